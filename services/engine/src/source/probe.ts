import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reading } from '@framelane/contracts/transcode-plan';
import { SOURCE_PATH } from '../sandbox/job-folder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { refusal } from '../transcode-failure.ts';
import { type AudioFrames, AudioScan } from './audio-scan.ts';
import { ChangeScan, type PictureChanges } from './change-scan.ts';
import { showsIncompleteFrames } from './codec-traits.ts';
import { type ContainerTraits, containerTraits } from './containers.ts';
import { decodedSize } from './cover.ts';
import { type DescribedFile, describeFile, MAX_DESCRIPTION_CHARS, readEachPacket } from './describe-file.ts';
import { checkVideoEdits, readEditLists, shownParts, withEditLists } from './edit-lists.ts';
import { type ProbeOptions, runFfprobe, sourceArguments } from './ffprobe.ts';
import { pairFields } from './frame-pairing.ts';
import { toNumber } from './frame-rate.ts';
import { type Gop, type GopFlaw, GopScan, type VideoPacket } from './gop-scan.ts';
import { checkIsNoImage } from './image-files.ts';
import { Interleaving } from './interleaving.ts';
import { KeyFrameScan } from './key-frame-scan.ts';
import { type MediaLayout, readContainerIndex } from './media-layout.ts';
import type { AudioTrack, MediaSource, Size, TrackName, VideoTrack } from './media-source.ts';
import { PacketBudget } from './packet-budget.ts';
import { type PacketRun, PacketRuns } from './packet-runs.ts';
import { PacketTimeline, type Timeline } from './packet-timeline.ts';
import type { Packet } from './packets.ts';
import { heldUntil } from './slow-video.ts';
import type { SourceChapters } from './source-chapters.ts';
import {
  type ChosenTracks,
  checkDuration,
  checkHiddenPackets,
  checkSoundDuration,
  checkTimeline,
  chooseTracks,
  type DurationLimits,
  encryptedTrackRefusal,
  MAX_FRAME_RATE,
  VideoBudget,
} from './source-checks.ts';
import { StreamClock } from './stream-clock.ts';
import { hasFurtherTracks, LONGEST_ANALYSIS, lacksVideo, TrackArrivals } from './track-arrivals.ts';
import { TrackEnd } from './track-end.ts';
import { isAudioCodecAccepted, isTextCodec } from './whitelist.ts';

/** A source that can be transcoded, with the tracks chosen from it. */
export type ProbedSource = ProbedVideo | ProbedSound;

/** Whether a source has no video, or it is left out. */
export function isSound(source: ProbedSource): source is ProbedSound {
  return source.video === null;
}

/** A source with video. */
export type ProbedVideo = CommonFacts & { video: VideoTrack; timeline: Timeline; changes: PictureChanges };

/** Sound alone. */
export type ProbedSound = CommonFacts & {
  video: null;
  /** The cover picture, if it can be decoded. */
  cover: { index: number; size: Size } | null;
  /** Seconds from the earliest timestamp of the file to the first packet in use, and to the end of the last one. */
  timeline: Pick<Timeline, 'start' | 'duration'>;
};

type CommonFacts = {
  container: string;
  reading: Reading;
  /** The default track is the first. */
  audio: readonly ProbedAudio[];
  /** The tracks that the output leaves out. */
  leftOut: readonly TrackName[];
  chapters: SourceChapters;
  /** Seconds from zero to the end of the last packet of any track. */
  end: number;
  /** The same end as the container declares it (see MediaSource). */
  declaredDuration: number | null;
  /** The fraction of the file after the last packet that can be read; 0 if the index of the file may be there. */
  unread: number;
  /** The groups of pictures of the video, or why they do not allow a stream copy. */
  gops: Gop[] | GopFlaw;
  /**
   * Where a run can begin to decode the video: times of key frames, at least half a second apart, in seconds from the earliest
   * timestamp of the file. Null if runs must begin with the file.
   */
  entryPoints: readonly number[] | null;
  /**
   * Whether key frames cannot be decoded without the frames between them: ffmpeg decodes few key frames of open groups of pictures in H.264 alone
   * (measured with 5.1).
   */
  keyFramesNeedOthers: boolean;
  /** The most seconds of audio in the file that precede a key frame and are heard after it. */
  audioAhead: number;
  /** For runs that read only a part of the file. Null if every run needs the whole file. */
  layout: MediaLayout | null;
};

export type ProbedAudio = AudioTrack & {
  /** Seconds from the start of the file to the first audible packet; NaN if unknown. */
  start: number;
  /** Seconds from the start of the file from which the edit list shows nothing; Infinity or undefined if it shows the track to its end. */
  silentFrom?: number;
  /** Seconds from the start of the file to the end of the last audible packet. */
  end: number;
  /** Null if the track is not AAC, has gaps or changes its description. */
  frames: AudioFrames | null;
};

/** Measurements of the packets. */
type PacketFacts = Pick<
  CommonFacts,
  'end' | 'unread' | 'gops' | 'audio' | 'entryPoints' | 'audioAhead' | 'keyFramesNeedOthers'
> & {
  runs: readonly PacketRun[] | null;
  timeline: Timeline | null;
  changes: PictureChanges;
  clock: StreamClock;
  arrivals: TrackArrivals;
  /** See Reading. Null if all frames can be shown. */
  firstPicture: number | null;
};

/** Maximum number of characters of ffprobe's list of audio frames: several times what all tracks need. */
const MAX_FRAME_CHARS = 2 ** 22;

/** Number of frames that are decoded to find out whether a track is interlaced. */
const SCAN_TYPE_FRAMES = 10;

/** A page of Ogg. The position of a packet is that of its page. */
const PAGE_BYTES = 64 * 1024;

/** ffprobe's name of the side data that MP4's common encryption adds to each packet. */
const ENCRYPTION_INFO = 'Encryption info';
/** ffprobe's name of the side data of a packet from which another sample entry of an MP4 applies. */
const NEW_DESCRIPTION = 'New Extradata';

/** Probes the source in the job's directory. Throws a TranscodeFailure that refuses the source, or a ToolError. */
export async function probe(options: ProbeOptions): Promise<ProbedSource> {
  await checkIsNoImage(join(options.cwd, SOURCE_PATH));
  const { source, tracks, facts, editLists, scan, isLate } = await readFile(options);
  const { timeline, runs, end, unread, gops, entryPoints, audioAhead, keyFramesNeedOthers } = facts;
  const { clock, arrivals, firstPicture } = facts;
  const texts = source.tracks.filter(({ kind, codec }) => kind === 'subtitles' && isTextCodec(codec));
  const analysis = isLate
    ? {
        video: arrivals.analysisOf(tracks.video ? [tracks.video] : []),
        audio: arrivals.analysisOf(facts.audio),
        text: arrivals.analysisOf(texts),
      }
    : undefined;
  const audio = await withoutUndecodable(facts.audio, source, { ...options, analysis: analysis?.audio });
  const { container, declaredDuration } = source;
  const used = [...(tracks.video ? [tracks.video] : []), ...audio].map(({ index }) => index);
  const leftOut = source.tracks
    .filter(({ index }) => !used.includes(index))
    .map((track) =>
      editLists && track.kind === 'subtitles'
        ? { ...track, shown: shownParts(editLists.tracks.get(track.id ?? Number.NaN), source.startTime) }
        : track,
    );
  const common = {
    container,
    declaredDuration,
    end,
    unread,
    gops,
    entryPoints,
    audioAhead,
    keyFramesNeedOthers,
    audio,
    leftOut,
    chapters: source.chapters,
    reading: {
      ...(containerTraits(container).clockMayRestart && { startTime: source.startTime }),
      ...(clock.maxPause && { maxPauseSeconds: clock.maxPause }),
      ...(firstPicture && { firstPicture }),
      ...(analysis && { analysis }),
    },
    layout: tracks.video ? await layoutOf(source, runs, options) : null,
  };
  if (tracks.video === null) {
    const timeline = soundTimeline(audio, options);
    return { ...common, video: null, cover: await coverOf(source, options), timeline };
  }
  const soundEnd = Math.max(Number.NEGATIVE_INFINITY, ...audio.map((track) => track.end));
  const shown = timeline && heldUntil(timeline, soundEnd);
  checkTimeline(shown, tracks.video.coded, durationLimits(options));
  if (scan.status === 'rejected') throw scan.reason;
  const scanned = scan.value ?? tracks.video;
  // ffprobe computes the duration from the last timestamps, which then belong to another clock.
  const video = clock.hasRestarted ? { ...scanned, declaredDuration: null } : scanned;
  return { ...common, video, timeline: pairFields(shown, video), changes: facts.changes };
}

/** Sound alone lasts from the beginning of its first track to the end of its last one. */
function soundTimeline(audio: readonly ProbedAudio[], options: ProbeOptions): ProbedSound['timeline'] {
  const start = Math.max(0, Math.min(...audio.map((track) => track.start || 0)));
  const duration = Math.max(...audio.map(({ end }) => end));
  if (audio.length === 0) {
    throw refusal(
      'malformed_media',
      'No audio track of the file can be decoded. Export it again and upload that.',
    );
  }
  checkSoundDuration(duration - start, durationLimits(options).maxSourceSeconds);
  return { start, duration };
}

function durationLimits({ limits: { maxDurationSeconds }, isTrimmed }: ProbeOptions): DurationLimits {
  return { maxDurationSeconds, maxSourceSeconds: isTrimmed ? Number.POSITIVE_INFINITY : maxDurationSeconds };
}

/** The first cover picture that can be decoded. */
async function coverOf({ covers }: MediaSource, options: ProbeOptions): Promise<ProbedSound['cover']> {
  const { program, cwd, signal, limits } = options;
  for (const cover of covers) {
    const size = await decodedSize(cover, {
      program,
      cwd,
      signal,
      limitSeconds: limits.probeSeconds,
      formats: sourceArguments(options),
    });
    if (size) return { index: cover.index, size };
  }
  return null;
}

/** Describes the file and reads its packets. If tracks in use begin late, does so again, with the longest analysis. */
async function readFile(options: ProbeOptions) {
  const found = await describeFile(options);
  const thorough = { ...options, analysis: LONGEST_ANALYSIS };
  const { container } = found.source;
  if (options.audioOnly !== 'required' && lacksVideo(found.source) && !containerTraits(container).isSound) {
    const complete = await describeFile(thorough);
    if (options.audioOnly === 'refused' || !lacksVideo(complete.source)) {
      return { ...(await readTracks(complete, thorough)), isLate: true };
    }
  }
  const read = await readTracks(found, options);
  const complete = read.facts.arrivals.areLate(found.source)
    ? await describeFile(thorough).catch(nullForToolError)
    : null;
  const usable = complete && ofFirstClock(complete.source, read.facts.clock);
  if (usable === null || !hasFurtherTracks(usable, found.source, options.audioOnly))
    return { ...read, isLate: false };
  const further = { source: usable, packets: complete?.packets ?? null };
  return { ...(await readTracks(further, thorough)), isLate: true };
}

/** The source without the video and audio that begins after a restart of the clock: it belongs to another program. */
function ofFirstClock(source: MediaSource, clock: StreamClock): MediaSource {
  const isOfFirst = ({ index }: { index: number }) => !clock.beginsAfterRestart(index);
  return {
    ...source,
    videoTracks: source.videoTracks.filter(isOfFirst),
    audioTracks: source.audioTracks.filter(isOfFirst),
  };
}

/** The video is usable without the tracks that begin late. */
function nullForToolError(error: unknown): null {
  if (error instanceof ToolError) return null;
  throw error;
}

async function readTracks(found: DescribedFile, options: ProbeOptions) {
  const { clockMayRestart, hasEditLists } = containerTraits(found.source.container);
  const editLists = hasEditLists ? await readEditLists(join(options.cwd, SOURCE_PATH)) : null;
  const described = editLists ? withEditLists(found.source, editLists) : found.source;
  const tracks = chooseTracks(described, options.audioOnly);
  if (editLists && tracks.video) checkVideoEdits(editLists, described.tracks, tracks.video);
  const followed = clockMayRestart ? usedTracks(tracks).map(({ index }) => index) : [];
  // In these formats, ffmpeg begins at the earliest timestamp of the tracks that it reads.
  const starts = followed.map((index) => described.startTimes[index] ?? Number.NaN).filter(Number.isFinite);
  const source = starts.length === 0 ? described : { ...described, startTime: Math.min(...starts) };
  const clockOf = (maxPause?: number) => new StreamClock(followed, maxPause, source.startTime);
  const read = async () => {
    const file = { source, packets: found.packets };
    const facts = await readPackets(file, tracks, options, clockOf());
    if (!facts.clock.isAmbiguous) return facts;
    return readPackets(file, tracks, options, clockOf(facts.clock.maxPause));
  };
  const [facts, scan] = await whileScanning(tracks.video, options, read);
  return { source, tracks, editLists, facts, scan };
}

function usedTracks({ video, audio }: ChosenTracks): readonly (VideoTrack | AudioTrack)[] {
  return video ? [video, ...audio] : audio;
}

/**
 * Finds out whether the video is interlaced while `read` runs, which needs about as long for a short file. Its failure is a result, because
 * a refusal of the packets has priority.
 */
async function whileScanning<T>(
  video: VideoTrack | null,
  options: ProbeOptions,
  read: () => Promise<T>,
): Promise<[T, PromiseSettledResult<VideoTrack | null>]> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([options.signal, stopping.signal]);
  const scanning = Promise.allSettled([
    video?.scanTypeUnknown ? withScanType(video, { ...options, signal }) : video,
  ]);
  const result = await read().catch(async (error: unknown) => {
    stopping.abort();
    await scanning;
    throw error;
  });
  const [scan] = await scanning;
  return [result, scan];
}

/** The layout for runs that read only a part of the file. Null with several video tracks: ffmpeg may begin at a key frame of another. */
async function layoutOf(
  { tracks }: MediaSource,
  runs: readonly PacketRun[] | null,
  { cwd }: ProbeOptions,
): Promise<MediaLayout | null> {
  const isOnlyVideo = tracks.filter(({ kind }) => kind === 'video').length === 1;
  if (runs === null || !isOnlyVideo) return null;
  const container = await readContainerIndex(join(cwd, SOURCE_PATH));
  return container && { ...container, runs };
}

/** Seconds of audio that are decoded to find out whether a track can be decoded. */
const DECODED_SECONDS = 5;

/**
 * If there are several audio tracks, decodes the first seconds of each. Leaves out the tracks that start in the first half of these
 * seconds but have no decodable frame: a viewer who chose such a track would hear silence.
 */
async function withoutUndecodable(
  audio: readonly ProbedAudio[],
  { audioTracks }: MediaSource,
  options: ProbeOptions,
): Promise<readonly ProbedAudio[]> {
  // The start is NaN if the first packet has no timestamp.
  const early = audio.filter(({ start }) => start < DECODED_SECONDS / 2);
  if (audio.length < 2 || early.length === 0) return audio;
  // ffprobe selects all audio tracks or a single one. It must not decode a track whose codec is not accepted (see whitelist.ts).
  const allAccepted = audioTracks.every(({ codec }) => isAudioCodecAccepted(codec));
  const groups = allAccepted
    ? [{ selection: 'a', tracks: early }]
    : early.map((track) => ({ selection: String(track.index), tracks: [track] }));
  const leftOut: ProbedAudio[] = [];
  for (const { selection, tracks } of groups) {
    leftOut.push(...(await undecodable(tracks, selection, options)));
  }
  return audio.filter((track) => !leftOut.includes(track));
}

/** The tracks of a selection of which ffprobe decodes no frame in the first seconds of the file. */
async function undecodable(
  tracks: readonly ProbedAudio[],
  selection: string,
  options: ProbeOptions,
): Promise<readonly ProbedAudio[]> {
  const decoded = new Set<number>();
  const part = ['-select_streams', selection, '-read_intervals', `%+${DECODED_SECONDS}`];
  const entries = ['-show_entries', 'frame=stream_index', '-of', 'csv=p=0'];
  try {
    await runFfprobe(options, [...part, ...entries], {
      limitOutput: MAX_FRAME_CHARS,
      onLine: (line) => decoded.add(Number.parseInt(line, 10)),
    });
  } catch (error) {
    // Later, the encode finds the tracks that cannot be decoded.
    if (error instanceof ToolError) return [];
    throw error;
  }
  return tracks.filter(({ index }) => !decoded.has(index));
}

/** Decodes the first frames to find out whether they are interlaced. */
async function withScanType(video: VideoTrack, options: ProbeOptions): Promise<VideoTrack> {
  const part = ['-select_streams', String(video.index), '-read_intervals', `%+#${SCAN_TYPE_FRAMES}`];
  const entries = ['-show_entries', 'frame=interlaced_frame', '-of', 'csv=p=0'];
  let interlaced = false;
  await runFfprobe(options, [...part, ...entries], {
    limitOutput: MAX_DESCRIPTION_CHARS,
    onLine: (line) => {
      interlaced ||= line.startsWith('1');
    },
  });
  return { ...video, interlaced };
}

/**
 * Reads all packets without decoding them. Stops at the first packet beyond the limits, and stores no packet: a sample
 * table of a few kilobytes can declare millions.
 */
async function readPackets(
  file: DescribedFile,
  chosen: ChosenTracks,
  options: ProbeOptions,
  clock: StreamClock,
): Promise<PacketFacts> {
  const { container, startTime, declaredDuration, tracks } = file.source;
  const { video, audio } = chosen;
  const { hasEditLists, seek, allowsParts } = containerTraits(container);
  const timeline = new PacketTimeline(startTime, video?.declaredRate ?? null, hasEditLists);
  const arrivals = new TrackArrivals(startTime);
  const keyFrames = new KeyFrameScan(startTime);
  const changes = new ChangeScan(startTime);
  const interleaving = new Interleaving();
  const runs = allowsParts ? new PacketRuns(startTime) : null;
  const rate = video?.declaredRate ? toNumber(video.declaredRate) : Number.POSITIVE_INFINITY;
  const gops = rate <= MAX_FRAME_RATE ? new GopScan(startTime, rate) : null;
  const audioScans = new Map(
    audio.map(({ index, sampleRate }) => [index, new AudioScan(startTime, sampleRate)]),
  );
  const ends = new Map(usedTracks(chosen).map(({ index, shownUntil }) => [index, new TrackEnd(shownUntil)]));
  const isOutside = (index: number, { pts, dts }: { pts: number; dts: number }) =>
    hasEditLists && (ends.get(index)?.isPassedAt(pts, dts) || pts < 0);
  const encrypted = new Set<number>();
  const { size: fileBytes } = await stat(join(options.cwd, SOURCE_PATH));
  const durations = durationLimits(options);
  const budget = new PacketBudget(fileBytes, options.limits.maxDurationSeconds);
  const videoBudget = video && new VideoBudget(video.coded, durations);
  // A file with a declared duration may end with an index of any size.
  const hasIndex = (video ? video.isIndexed : hasEditLists) || declaredDuration !== null;
  const addVideo = (packet: VideoPacket & { duration: number; at: number }) => {
    const { pts, dts, duration, isHidden } = packet;
    if (isHidden) timeline.addHidden(pts);
    else timeline.add(pts, dts, duration);
    videoBudget?.check(timeline.packets, timeline.end);
    keyFrames.add(packet);
    changes.add(packet);
    if (packet.isKey) interleaving.addKeyFrame(pts);
    runs?.add(packet);
    gops?.add(packet);
  };
  const addAudio = (index: number, ...packet: Parameters<AudioScan['add']>) => {
    const scan = audioScans.get(index);
    if (!scan) return;
    scan.add(...packet);
    const [pts, , { duration = 0 } = {}] = packet;
    interleaving.addAudio(pts + (duration || 0));
    if (!video) checkDuration(scan.end, durations.maxSourceSeconds);
  };
  let end = 0;
  let readTo = 0;
  const add = (read: Packet) => {
    const { index, duration, at, bytes, flags, sideData } = read;
    budget.spend(bytes);
    arrivals.add(index, read.pts, at);
    readTo = Math.max(readTo, at + bytes || 0);
    const correction = clock.correction(read);
    const times = { pts: read.pts + correction, dts: read.dts + correction };
    const isHidden = flags.includes('D') || isOutside(index, times);
    if (!isHidden) end = Math.max(end, (times.pts || times.dts || 0) + (duration || 0));
    if (sideData.includes(ENCRYPTION_INFO)) encrypted.add(index);
    const hasNewDescription = sideData.includes(NEW_DESCRIPTION);
    addAudio(index, times.pts, bytes, { isHidden, hasNewDescription, duration });
    if (index !== video?.index) return;
    const packet = { ...times, bytes, isKey: flags.includes('K'), isHidden, hasNewDescription };
    addVideo({ ...packet, duration, at });
  };
  arrivals.countTracks(await readEachPacket(file, options, add));
  const encryptedVideo = tracks.find(({ index }) => index === video?.index && encrypted.has(index));
  if (encryptedVideo) throw encryptedTrackRefusal(encryptedVideo);
  if (video) checkHiddenPackets(timeline, video.codec);
  return {
    end,
    timeline: timeline.result(),
    changes: changes.result(),
    gops: gops?.result() ?? 'irregular',
    runs: runs?.result() ?? null,
    entryPoints: entryPointsOf(keyFrames, clock, seek),
    audioAhead: interleaving.audioAhead,
    ...keyFrameFacts(keyFrames, video?.codec),
    clock,
    arrivals,
    unread: hasIndex || readTo === 0 || fileBytes - readTo <= PAGE_BYTES ? 0 : 1 - readTo / fileBytes,
    audio: audio.flatMap((track) => {
      const scan = audioScans.get(track.index);
      if (!scan?.packets || encrypted.has(track.index)) return [];
      const { shownUntil = Number.POSITIVE_INFINITY } = track;
      const times = { start: scan.start, silentFrom: shownUntil - startTime };
      return [{ ...track, ...times, end: scan.end, frames: track.codec === 'aac' ? scan.result() : null }];
    }),
  };
}

function keyFrameFacts(
  { hasLeadingFrames, firstPicture }: KeyFrameScan,
  codec = '',
): Pick<PacketFacts, 'keyFramesNeedOthers' | 'firstPicture'> {
  return {
    keyFramesNeedOthers: codec === 'h264' && hasLeadingFrames,
    firstPicture: showsIncompleteFrames(codec) ? firstPicture : null,
  };
}

function entryPointsOf(
  keyFrames: KeyFrameScan,
  { hasRestarted }: StreamClock,
  seek: ContainerTraits['seek'],
): readonly number[] | null {
  if (seek === null || hasRestarted || (seek === 'index' && !keyFrames.isAscending)) return null;
  return keyFrames.times;
}
