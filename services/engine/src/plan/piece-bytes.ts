import { MAX_RANGES } from '@framelane/contracts/outputs/piece-task';
import { type ByteRanges, lengthOf, union } from '../source/byte-ranges.ts';
import type { MediaLayout } from '../source/media-layout.ts';
import type { PacketRun } from '../source/packet-runs.ts';
import { LastIndex } from './last-index.ts';

/** More packets than ffmpeg reads when it opens a file, and more than decoder, threads and filters need after the last frame. */
const EXTRA_PACKETS = 64;

/** ffmpeg may seek a little earlier, to allow for the delay between decoding and presentation. */
const SEEK_TOLERANCE_SECONDS = 0.2;

/** If a piece needs a larger part of the source, engines fetch all of it. */
const LARGEST_PART = 0.8;

/**
 * The bytes of a source that the runs of its pieces read: the index, the beginning, and the packets of the video from the key frame at
 * which reading begins.
 */
export class PieceBytes {
  readonly #layout: MediaLayout;
  /** Infinity for runs that do not begin with a key frame. */
  readonly #keyTimes: LastIndex;
  readonly #earliest: LastIndex;

  constructor(layout: MediaLayout) {
    this.#layout = layout;
    this.#keyTimes = new LastIndex(layout.runs.map(({ keyTime }) => keyTime ?? Number.POSITIVE_INFINITY));
    this.#earliest = new LastIndex(layout.runs.map(({ earliest }) => earliest));
  }

  /**
   * The bytes of a piece. Undefined if these are most of the source, or many ranges.
   *
   * @param seek the second of the source at which reading begins; null for its beginning
   * @param end the second of the source at which the piece ends
   */
  of({ seek, end }: { seek: number | null; end: number }): ByteRanges | undefined {
    const { bytes, index, runs } = this.#layout;
    const first = this.#keyTimes.atMost((seek ?? Number.NEGATIVE_INFINITY) - SEEK_TOLERANCE_SECONDS);
    const last = this.#earliest.below(end);
    const read = runs.slice(Math.max(0, first), withExtra(runs, last + 1));
    const ranges = union([...index, ...extent(runs.slice(0, withExtra(runs, 0))), ...extent(read)]);
    const isInFile = ranges.every(([start, rangeEnd]) => start >= 0 && rangeEnd <= bytes);
    const isWorthwhile = ranges.length <= MAX_RANGES && lengthOf(ranges) <= LARGEST_PART * bytes;
    return isInFile && isWorthwhile ? ranges : undefined;
  }
}

/** The number of the first run after EXTRA_PACKETS packets, counted from the start of run `from`. */
function withExtra(runs: readonly PacketRun[], from: number): number {
  let at = from;
  for (let packets = 0; at < runs.length && packets < EXTRA_PACKETS; at += 1)
    packets += runs[at]?.packets ?? 0;
  return at;
}

/** A single range, because packets of other tracks are between those of the video. */
function extent(runs: readonly PacketRun[]): ByteRanges {
  const start = runs.reduce((least, run) => Math.min(least, run.start), Number.POSITIVE_INFINITY);
  const end = runs.reduce((most, run) => Math.max(most, run.end), 0);
  return [[start, end]];
}
