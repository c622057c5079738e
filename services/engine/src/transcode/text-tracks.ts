import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_CAPTIONS_BYTES } from '@framelane/captions/captions';
import type { CaptionsTrack } from '@framelane/contracts/manifest';
import type { Analysis, EncodePlan } from '@framelane/contracts/transcode-plan';
import type { Logger } from '@framelane/service-kit/logger';
import { ThreadTimeoutError, WorkerThreads } from '@framelane/service-kit/worker-threads';
import { MAX_TEXT_FILE_BYTES, type MediaTools } from '../ffmpeg/media-tools.ts';
import { grantFolder, OUTPUT_FOLDER, SOURCE_INPUT } from '../sandbox/job-folder.ts';
import { removeTree } from '../sandbox/remove-tree.ts';
import { runTool, ToolError } from '../sandbox/run-tool.ts';
import { hostileOutput, ToolOutput, ToolOutputError } from '../sandbox/tool-output.ts';
import type { TrackName } from '../source/media-source.ts';
import type { ProbedSource } from '../source/probe.ts';
import { analysisOptions } from '../source/track-arrivals.ts';
import { isTextCodec, TEXT_OPTIONS } from '../source/whitelist.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';

/** A readable text track as SubRip. Its times are those of the source; with `shown`, those of the track. */
export type TextTrack = Pick<TrackName, 'language' | 'title' | 'shown'> & { file: Uint8Array };

/** Reads text off the event loop, for all videos that this engine transcodes. The largest file takes about a second. */
const threads = new WorkerThreads<typeof import('./text-functions.ts')>(
  import.meta.resolve('@framelane/engine/transcode/text-functions'),
  { threads: 1, maxWaiting: Number.POSITIVE_INFINITY, timeoutMs: 30_000 },
);

/** Bytes of the cues of all tracks together, as WebVTT: one message contains them. RabbitMQ accepts messages of up to 16 MiB. */
const MAX_TOTAL_BYTES = 2 * MAX_CAPTIONS_BYTES;

type TextTracksContext = {
  tools: MediaTools;
  settings: Pick<TranscodeSettings, 'limits'>;
  logger: Logger;
  signal: AbortSignal;
};

/** Where captions are made: the directory of the job, which takes turns with others. */
export type CaptionsContext = { directory: string; logger: Logger };

type RunContext = TextTracksContext & { analysis: Analysis | undefined };

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
  const run = { ...context, analysis: source.reading.analysis?.text };
  const together = await convert(tracks, directory, deadline, run);
  // One bad or large track can end the run for all of them.
  const results = together ?? (tracks.length === 1 ? [] : await eachAlone(tracks, directory, deadline, run));
  const texts: TextTrack[] = [];
  const flaws = new Map<TrackName, string>();
  let bytes = 0;
  for (const [at, track] of tracks.entries()) {
    const result: Result = results[at] ?? { flaw: 'its text cannot be read' };
    bytes += result.bytes ?? 0;
    if (result.file === undefined) flaws.set(track, result.flaw);
    else if (bytes > MAX_TOTAL_BYTES) flaws.set(track, 'the text tracks of the file have more than 4 MiB');
    else texts.push({ language: track.language, title: track.title, shown: track.shown, file: result.file });
  }
  const used = tracks.filter((track) => !flaws.has(track));
  const leftOut = source.leftOut
    .filter((track) => !used.includes(track))
    .map((track) => ({ ...track, ...(flaws.has(track) && { flaw: flaws.get(track) }) }));
  return { source: { ...source, leftOut }, texts };
}

/** Text tracks as captions, with the times of the output. Those that take too long are left out: the video is usable without them. */
export async function toCaptions(
  texts: readonly TextTrack[],
  { lead, duration }: Pick<EncodePlan, 'lead' | 'duration'>,
  { directory, logger }: CaptionsContext,
): Promise<CaptionsTrack[]> {
  const captions: CaptionsTrack[] = [];
  for (const { language, title = null, file, shown } of texts) {
    const times = { shift: Math.round(lead * 1000), duration: duration * 1000 };
    try {
      const webvtt = await threads.run(directory, 'convert', { file, shown, ...times });
      if (webvtt !== null) captions.push({ language, label: title, webvtt });
    } catch (error) {
      if (!(error instanceof ThreadTimeoutError)) throw error;
      logger.warn('transcode.captions_left_out', { language, error });
    }
  }
  return captions;
}

/** A text track with the size of its cues as WebVTT, or why it has none. */
type Result =
  | { file: Uint8Array; bytes: number; flaw?: undefined }
  | { file?: undefined; bytes?: undefined; flaw: string };

const TOO_SLOW: Result = { flaw: 'reading the text takes too long' };

async function eachAlone(
  tracks: readonly TrackName[],
  directory: string,
  deadline: number,
  context: RunContext,
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
  { tools, logger, signal, analysis }: RunContext,
): Promise<Result[] | undefined> {
  const limitSeconds = (deadline - performance.now()) / 1000;
  if (limitSeconds <= 0) return tracks.map(() => TOO_SLOW);
  const folder = join(directory, OUTPUT_FOLDER);
  await mkdir(folder);
  await grantFolder(folder, 'write', tools.account);
  const output = await ToolOutput.open(folder);
  try {
    await runTool(tools.lightFfmpeg, textArguments(tracks, analysis), {
      cwd: directory,
      signal,
      limitSeconds,
      limitOutput: 0,
      onLine: () => {},
    });
    return await Promise.all(tracks.map((track, at) => readFile(output, fileName(at), track, directory)));
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
function textArguments(tracks: readonly TrackName[], analysis: RunContext['analysis']): string[] {
  const times = tracks.some(({ shown }) => shown !== undefined) ? TIMES_OF_THE_MEDIA : [];
  return [
    ...['-nostdin', '-hide_banner', '-v', 'error', ...TEXT_OPTIONS, ...analysisOptions(analysis)],
    ...[...times, '-i', SOURCE_INPUT],
    ...tracks.flatMap(({ index }, at) => [
      ...['-map', `0:${index}`, '-c:s', 'subrip', '-map_metadata', '-1', '-map_chapters', '-1'],
      ...['-avoid_negative_ts', 'disabled', '-fs', String(MAX_CAPTIONS_BYTES + 1)],
      ...['-f', 'srt', `${OUTPUT_FOLDER}/${fileName(at)}`],
    ]),
  ];
}

/** The files of one job are read one after another, those of several jobs in turn. */
async function readFile(
  output: ToolOutput,
  name: string,
  { shown }: TrackName,
  job: string,
): Promise<Result> {
  const opened = await output.file(name, MAX_TEXT_FILE_BYTES);
  if (opened === null) return { flaw: 'its text cannot be read' };
  try {
    if (opened.bytes > MAX_CAPTIONS_BYTES) return { flaw: 'it has more than 2 MiB of text' };
    const { buffer, bytesRead } = await opened.handle.read(Buffer.alloc(opened.bytes), 0, opened.bytes, 0);
    const file = buffer.subarray(0, bytesRead);
    const measured = await threads.run(job, 'measure', { file, shown });
    return measured.flaw === undefined ? { file, bytes: measured.bytes } : { flaw: measured.flaw };
  } catch (error) {
    if (!(error instanceof ThreadTimeoutError)) throw error;
    return TOO_SLOW;
  } finally {
    await opened.handle.close();
  }
}
