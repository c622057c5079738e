import type { AudioOnlyRule } from '@framelane/contracts/internal-api';
import type { Analysis } from '@framelane/contracts/transcode-plan';
import type { MediaSource } from './media-source.ts';
import { chooseTracks, hasSize } from './source-checks.ts';
import { isTextCodec } from './whitelist.ts';

/**
 * The longest analysis. ffmpeg keeps all packets that it reads meanwhile in memory.
 *
 * ffmpeg's own limits are 5 MB and, for most tracks, 5 seconds. A track that begins later has no parameters, or is missing.
 */
export const LONGEST_ANALYSIS: Analysis = { seconds: 12 * 3600, bytes: 256 * 1024 ** 2 };

/** ffmpeg's own limits allow more than this for the begin of a track. */
const EARLY: Analysis = { seconds: 2, bytes: 1024 ** 2 };

/** What ffmpeg reads of a track after its first packet, to find its parameters. */
const FURTHER_SECONDS = 10;
const FURTHER_BYTES = 8 * 1024 ** 2;

/** Options before the input, of ffmpeg and ffprobe. They suffice for all of these analyses. */
export function analysisOptions(...needed: readonly (Analysis | undefined)[]): string[] {
  const known = needed.filter((analysis) => analysis !== undefined);
  if (known.length === 0) return [];
  const longest = (of: keyof Analysis) => Math.max(...known.map((analysis) => analysis[of]));
  return ['-analyzeduration', String(longest('seconds') * 1_000_000), '-probesize', String(longest('bytes'))];
}

/** Whether the file may have video that the analysis has not reached. */
export function lacksVideo({ videoTracks }: MediaSource): boolean {
  return !videoTracks.some(hasSize);
}

/** Whether a longer analysis has found tracks to use that the description lacks, or their parameters. */
export function hasFurtherTracks(
  thorough: MediaSource,
  found: MediaSource,
  audioOnly: AudioOnlyRule,
): boolean {
  const known = tracksInUse(found, audioOnly);
  return tracksInUse(thorough, audioOnly).some((index) => !known.includes(index));
}

function tracksInUse(source: MediaSource, audioOnly: AudioOnlyRule): number[] {
  const { video, audio } = chooseTracks(source, audioOnly);
  const texts = source.tracks.filter(({ kind, codec }) => kind === 'subtitles' && isTextCodec(codec));
  return [...(video ? [video] : []), ...audio, ...texts]
    .map(({ index }) => index)
    .filter((index) => !source.withoutParameters.includes(index));
}

/** Records where each track begins. */
export class TrackArrivals {
  readonly #startTime: number;
  readonly #first = new Map<number, Analysis>();
  #tracks = 0;

  /** @param startTime earliest timestamp of the file, in seconds */
  constructor(startTime: number) {
    this.#startTime = startTime;
  }

  /** Adds a packet. `time` is in seconds, `at` is its position in the file; NaN where unknown. */
  add(track: number, time: number, at: number): void {
    if (this.#first.has(track)) return;
    this.#first.set(track, { seconds: (time || 0) - this.#startTime, bytes: at || 0 });
  }

  /** Sets the number of tracks that ffprobe knows at the end of the file. */
  countTracks(tracks: number): void {
    this.#tracks = tracks;
  }

  /** Whether the file has a track that its description lacks, or that has packets but no parameters. */
  areLate({ startTimes, withoutParameters }: MediaSource): boolean {
    return this.#tracks > startTimes.length || withoutParameters.some((index) => this.#first.has(index));
  }

  /** Whether ffmpeg's own analysis of the file finds all tracks that have packets. */
  areEarly({ startTimes }: MediaSource): boolean {
    const first = [...this.#first.values()];
    const isEarly = ({ seconds, bytes }: Analysis) => seconds <= EARLY.seconds && bytes <= EARLY.bytes;
    return this.#tracks <= startTimes.length && first.every(isEarly);
  }

  /** The shortest analysis that finds these tracks. */
  analysisOf(tracks: readonly { index: number }[]): Analysis {
    const first = tracks.flatMap(({ index }) => this.#first.get(index) ?? []);
    const latest = (of: keyof Analysis) => Math.ceil(Math.max(0, ...first.map((arrival) => arrival[of])));
    return { seconds: latest('seconds') + FURTHER_SECONDS, bytes: latest('bytes') + FURTHER_BYTES };
  }
}
