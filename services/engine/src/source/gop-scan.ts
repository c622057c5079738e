import { CLOCK_HZ } from '@framelane/contracts/manifest';

/** A group of pictures: the frames from one key frame to the next. */
export type Gop = {
  /** Seconds from the start of the file. */
  start: number;
  /** Seconds. */
  duration: number;
  bytes: number;
};

/** Why the packets of a video do not allow a stream copy. */
export type GopFlaw =
  /** A timestamp is missing, a frame is decoded after its presentation, or the decoding timestamps do not ascend. */
  | 'unordered'
  /** The parameter sets of H.264 change within the track. */
  | 'parameter_sets'
  /** The frames do not have the times of a constant frame rate, or one is missing. */
  | 'irregular'
  /** Some frames are decoded and not displayed. */
  | 'hidden_frames'
  /** A frame of a group is displayed before its key frame. */
  | 'open_gop'
  /** Key frames are too far apart for segments. */
  | 'sparse_key_frames'
  /** Key frames are so close that the lower renditions, which have key frames at the same times, would lose quality. */
  | 'dense_key_frames';

export type VideoPacket = {
  /** Seconds; NaN where the container gives no timestamp. */
  pts: number;
  dts: number;
  bytes: number;
  isKey: boolean;
  /** Decoded and not displayed. */
  isHidden: boolean;
  /** The container has another description of the track from here on. */
  hasNewDescription: boolean;
};

/** The resolution of timestamps in transport streams. */
export const TICK_SECONDS = 1 / CLOCK_HZ;
/** Segments must be shorter than this: otherwise their duration rounds to more than six seconds. */
export const MAX_GOP_SECONDS = 6.5;
/** The shortest average distance of key frames. The first few groups do not count. */
const MIN_AVERAGE_GOP_SECONDS = 0.4;
const DENSE_GOPS_ALLOWED = 10;

/**
 * Reads the packets of a track in file order and finds its groups of pictures, or the first flaw that rules out
 * a stream copy. Decodes nothing, and holds the frames of one group at a time.
 */
export class GopScan {
  readonly #startTime: number;
  readonly #rate: number;
  readonly #gops: Gop[] = [];
  /** Frame numbers of the group being read, computed from timestamps. */
  #numbers = new Set<number>();
  #highestNumber = 0;
  #bytes = 0;
  /** Frames in the complete groups. */
  #frames = 0;
  #lastDts = Number.NEGATIVE_INFINITY;
  #flaw: GopFlaw | undefined;

  /**
   * @param startTime earliest timestamp of the file, in seconds
   * @param rate frame rate that the track declares
   */
  constructor(startTime: number, rate: number) {
    this.#startTime = startTime;
    this.#rate = rate;
  }

  add(packet: VideoPacket): void {
    if (this.#flaw) return;
    if (packet.isKey) this.#closeGroup();
    const number = this.#frameNumber(packet);
    this.#flaw = this.#flaw ?? this.#flawOf(packet, number);
    this.#lastDts = packet.dts;
    this.#numbers.add(number);
    this.#highestNumber = Math.max(this.#highestNumber, number);
    this.#bytes += packet.bytes;
  }

  /** Call once, after the last packet. */
  result(): Gop[] | GopFlaw {
    this.#closeGroup();
    return this.#flaw ?? this.#gops;
  }

  #frameNumber({ pts }: VideoPacket): number {
    return Math.round((pts - this.#startTime) * this.#rate);
  }

  #flawOf(packet: VideoPacket, number: number): GopFlaw | undefined {
    const { pts, dts, isKey, isHidden, hasNewDescription } = packet;
    if (isHidden) return 'hidden_frames';
    if (hasNewDescription) return 'parameter_sets';
    if (!(dts > this.#lastDts && dts <= pts + TICK_SECONDS)) return 'unordered';
    const time = this.#startTime + number / this.#rate;
    if (!(Math.abs(pts - time) <= TICK_SECONDS) || this.#numbers.has(number)) return 'irregular';
    if (this.#gops.length === 0 && this.#numbers.size === 0 && !(isKey && number === 0)) return 'irregular';
    if (number < this.#frames || (isKey && number > this.#frames)) return 'open_gop';
    return this.#numbers.size + 1 > MAX_GOP_SECONDS * this.#rate ? 'sparse_key_frames' : undefined;
  }

  #closeGroup(): void {
    const frames = this.#numbers.size;
    if (frames === 0 || this.#flaw) return;
    const end = this.#frames + frames;
    // The numbers differ, so if the highest is below `end`, no frame is missing.
    if (this.#highestNumber >= end) this.#flaw = 'irregular';
    this.#gops.push({
      start: this.#frames / this.#rate,
      duration: frames / this.#rate,
      bytes: this.#bytes,
    });
    this.#frames = end;
    this.#numbers = new Set();
    this.#bytes = 0;
    if ((this.#gops.length - DENSE_GOPS_ALLOWED) * MIN_AVERAGE_GOP_SECONDS > this.#frames / this.#rate) {
      this.#flaw ??= 'dense_key_frames';
    }
  }
}
