import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CaptionsError, type Cue, MAX_CAPTIONS_BYTES, MAX_CUES } from '@framelane/captions/captions';
import { readCaptions } from '@framelane/captions/read-captions';
import { cueBlock, webVttFile } from '@framelane/captions/write-webvtt';
import type { CaptionsTrack } from '@framelane/contracts/manifest';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import type { Logger } from '@framelane/service-kit/logger';
import { MAX_TEXT_FILE_BYTES, type MediaTools } from '../ffmpeg/media-tools.ts';
import { hostileOutput, ToolOutput, ToolOutputError } from '../output/tool-output.ts';
import { grantFolder, OUTPUT_FOLDER, SOURCE_INPUT } from '../sandbox/job-folder.ts';
import { runTool, ToolError } from '../sandbox/run-tool.ts';
import type { ShownPart } from '../source/edit-lists.ts';
import type { TrackName } from '../source/media-source.ts';
import type { ProbedSource } from '../source/probe.ts';
import { isTextCodec, TEXT_OPTIONS } from '../source/whitelist.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import { removeTree } from './work-directory.ts';

/** The cues of a text track, with times of the source. */
export type TextTrack = Pick<TrackName, 'language' | 'title'> & { cues: readonly Cue[] };

/** Bytes of the cues of all tracks together, as WebVTT: one message contains them. RabbitMQ accepts messages of up to 16 MiB. */
const MAX_TOTAL_BYTES = 2 * MAX_CAPTIONS_BYTES;

type TextTracksContext = {
  tools: MediaTools;
  settings: Pick<TranscodeSettings, 'limits'>;
  logger: Logger;
  signal: AbortSignal;
};

/**
 * Reads the text tracks of a source, with one run of ffmpeg that decodes nothing else. Resolves with the readable ones, and with the
 * source, whose `leftOut` no longer has those. A track that cannot be read does not fail the video: it stays in `leftOut` with its flaw.
 */
export async function readTextTracks(
  source: ProbedSource,
  directory: string,
  context: TextTracksContext,
): Promise<{ source: ProbedSource; texts: TextTrack[] }> {
  const tracks = source.leftOut.filter(({ kind, codec }) => kind === 'subtitles' && isTextCodec(codec));
  if (tracks.length === 0) return { source, texts: [] };
  const deadline = performance.now() + context.settings.limits.scanSeconds * 1000;
  const read = await convert(tracks, directory, deadline, context);
  // One bad or large track can end the run for all of them.
  const results = read ?? (tracks.length === 1 ? [] : await eachAlone(tracks, directory, deadline, context));
  const texts: TextTrack[] = [];
  const flaws = new Map<TrackName, string>();
  let bytes = 0;
  for (const [at, track] of tracks.entries()) {
    const { cues, flaw } = results[at] ?? { flaw: 'its text cannot be read' };
    bytes += cues?.reduce((sum, cue) => sum + Buffer.byteLength(cueBlock(cue)), 0) ?? 0;
    if (cues === undefined) flaws.set(track, flaw);
    else if (bytes > MAX_TOTAL_BYTES) flaws.set(track, 'the text tracks of the file have more than 4 MiB');
    else texts.push({ language: track.language, title: track.title, cues });
  }
  const used = tracks.filter((track) => !flaws.has(track));
  const leftOut = source.leftOut
    .filter((track) => !used.includes(track))
    .map((track) => ({ ...track, ...(flaws.has(track) && { flaw: flaws.get(track) }) }));
  return { source: { ...source, leftOut }, texts };
}

/** Text tracks as captions, with the times of the output. */
export function toCaptions(
  texts: readonly TextTrack[],
  { lead, duration }: Pick<EncodePlan, 'lead' | 'duration'>,
): CaptionsTrack[] {
  const shift = Math.round(lead * 1000);
  return texts.flatMap(({ language, title = null, cues }) => {
    const shown = cues
      .map((cue) => ({ ...cue, start: Math.max(0, cue.start - shift), end: cue.end - shift }))
      .filter(({ start, end }) => end > start && start < duration * 1000);
    return shown.length === 0 ? [] : [{ language, label: title, webvtt: webVttFile(shown.map(cueBlock)) }];
  });
}

/** The cues of a track, or why it has none. */
type Result = { cues: Cue[]; flaw?: undefined } | { cues?: undefined; flaw: string };

const TOO_SLOW: Result = { flaw: 'reading the text takes too long' };

/** More edits than any player's trim makes. Each takes time for each cue. */
const MAX_TEXT_EDITS = 32;

/** The cues of a text track with an edit list, with times of the source instead of those of the track. */
export function edited(cues: readonly Cue[], shown: readonly ShownPart[]): Result {
  if (shown.length > MAX_TEXT_EDITS) return { flaw: `its edit list has more than ${MAX_TEXT_EDITS} parts` };
  const parts: Cue[] = [];
  for (const { at, from, lasts } of shown) {
    const begin = toMilliseconds(from);
    const end = toMilliseconds(from + lasts);
    const shift = toMilliseconds(at - from);
    for (const cue of cues) {
      if (cue.end <= begin || cue.start >= end) continue;
      parts.push({ ...cue, start: Math.max(begin, cue.start) + shift, end: Math.min(end, cue.end) + shift });
    }
    if (parts.length > MAX_CUES) return { flaw: `its edit list shows more than ${MAX_CUES} cues` };
  }
  return { cues: parts.toSorted((a, b) => a.start - b.start) };
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

async function eachAlone(
  tracks: readonly TrackName[],
  directory: string,
  deadline: number,
  context: TextTracksContext,
): Promise<(Result | undefined)[]> {
  const results: (Result | undefined)[] = [];
  for (const track of tracks) results.push((await convert([track], directory, deadline, context))?.[0]);
  return results;
}

/**
 * Converts tracks to SubRip, which keeps the positions that ffmpeg's WebVTT output loses. Undefined if ffmpeg failed. ffmpeg is
 * stopped when `performance.now()` reaches the deadline.
 */
async function convert(
  tracks: readonly TrackName[],
  directory: string,
  deadline: number,
  { tools, logger, signal }: TextTracksContext,
): Promise<Result[] | undefined> {
  const limitSeconds = (deadline - performance.now()) / 1000;
  if (limitSeconds <= 0) return tracks.map(() => TOO_SLOW);
  const folder = join(directory, OUTPUT_FOLDER);
  await mkdir(folder);
  await grantFolder(folder, 'write', tools.account);
  const output = await ToolOutput.open(folder);
  try {
    await runTool(tools.textFfmpeg, textArguments(tracks), {
      cwd: directory,
      signal,
      limitSeconds,
      limitOutput: 0,
      onLine: () => {},
    });
    return await Promise.all(tracks.map((track, at) => readFile(output, fileName(at), track)));
  } catch (error) {
    if (error instanceof ToolOutputError) throw hostileOutput(error);
    if (!(error instanceof ToolError)) throw error;
    logger.warn('transcode.text_tracks_failed', { tracks: tracks.map(({ index }) => index), error });
    return error.end === 'timeout' ? tracks.map(() => TOO_SLOW) : undefined;
  } finally {
    await output.close();
    await removeTree(folder);
  }
}

function fileName(at: number): string {
  return `${at}.srt`;
}

/** With an edit list, ffmpeg begins each edit with the first text after its start, and loses text that began before it (measured). */
const TIMES_OF_THE_MEDIA = ['-ignore_editlist', '1', '-copyts'];

/** ffmpeg ends when every file has reached the size limit. */
function textArguments(tracks: readonly TrackName[]): string[] {
  const times = tracks.some(({ shown }) => shown !== undefined) ? TIMES_OF_THE_MEDIA : [];
  return [
    ...['-nostdin', '-hide_banner', '-v', 'error', ...TEXT_OPTIONS, ...times, '-i', SOURCE_INPUT],
    ...tracks.flatMap(({ index }, at) => [
      ...['-map', `0:${index}`, '-c:s', 'subrip', '-map_metadata', '-1', '-map_chapters', '-1'],
      ...['-avoid_negative_ts', 'disabled', '-fs', String(MAX_CAPTIONS_BYTES + 1)],
      ...['-f', 'srt', `${OUTPUT_FOLDER}/${fileName(at)}`],
    ]),
  ];
}

async function readFile(output: ToolOutput, name: string, { shown }: TrackName): Promise<Result> {
  const file = await output.file(name, MAX_TEXT_FILE_BYTES);
  if (file === null) return { flaw: 'its text cannot be read' };
  try {
    if (file.bytes > MAX_CAPTIONS_BYTES) return { flaw: 'it has more than 2 MiB of text' };
    const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(file.bytes), 0, file.bytes, 0);
    const cues = readCaptions(buffer.subarray(0, bytesRead), 'subrip');
    return shown === undefined ? { cues } : edited(cues, shown);
  } catch (error) {
    if (!(error instanceof CaptionsError)) throw error;
    return { flaw: error.flaw };
  } finally {
    await file.handle.close();
  }
}
