/** The pictures from one key frame to the next. */
export type Gop = {
  /** Seconds from the beginning of the file. */
  start: number;
  /** Seconds. */
  duration: number;
  bytes: number;
};

/** Why the packets of a video cannot be delivered as they are. */
export type GopFlaw =
  /** A frame has no time, or a decoder could not take them in this order. */
  | 'unordered'
  /** A frame is not where the frame rate puts it, or one is missing. */
  | 'irregular'
  /** Frames are there only to decode others. */
  | 'hidden_frames'
  /** A key frame is not the first of its group to be shown. */
  | 'open_gop'
  /** Key frames are too far apart, or so close that the lower rungs would suffer. */
  | 'sparse_key_frames'
  | 'dense_key_frames';

export type VideoPacket = {
  /** Times in seconds; NaN where the container gives none. */
  pts: number;
  dts: number;
  bytes: number;
  isKey: boolean;
  /** To be decoded, not shown. */
  isHidden: boolean;
};

/** Transport streams count time in these. */
const TICK_SECONDS = 1 / 90_000;
/** Longest segment whose duration rounds to six seconds. */
export const LONGEST_GOP_SECONDS = 6.5;
/** Shortest distance of key frames on average; some may be closer. */
const DENSEST_SECONDS = 0.4;
const DENSE_GOPS_ALLOWED = 10;

/**
 * Reads the packets of a track in file order and finds its groups of pictures, or what is wrong with them. Nothing is
 * decoded, and no more than one group is kept frame by frame.
 */
export class GopScan {
  readonly #startTime: number;
  readonly #rate: number;
  readonly #gops: Gop[] = [];
  /** Frame numbers of the group being read, by their times. */
  #numbers = new Set<number>();
  #highestNumber = 0;
  #bytes = 0;
  /** Frames in the groups that are complete. */
  #frames = 0;
  #lastDts = Number.NEGATIVE_INFINITY;
  #flaw: GopFlaw | undefined;

  /**
   * @param startTime earliest timestamp of the file, in seconds
   * @param rate frames a second that the track declares
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

  /** To be asked once, after the last packet. */
  result(): Gop[] | GopFlaw {
    this.#closeGroup();
    return this.#flaw ?? this.#gops;
  }

  #frameNumber({ pts }: VideoPacket): number {
    return Math.round((pts - this.#startTime) * this.#rate);
  }

  #flawOf(packet: VideoPacket, number: number): GopFlaw | undefined {
    const { pts, dts, isKey, isHidden } = packet;
    if (isHidden) return 'hidden_frames';
    if (!(dts > this.#lastDts && dts <= pts + TICK_SECONDS)) return 'unordered';
    const time = this.#startTime + number / this.#rate;
    if (!(Math.abs(pts - time) <= TICK_SECONDS) || this.#numbers.has(number)) return 'irregular';
    if (this.#gops.length === 0 && this.#numbers.size === 0 && !(isKey && number === 0)) return 'irregular';
    if (number < this.#frames || (isKey && number > this.#frames)) return 'open_gop';
    return this.#numbers.size + 1 > LONGEST_GOP_SECONDS * this.#rate ? 'sparse_key_frames' : undefined;
  }

  #closeGroup(): void {
    const frames = this.#numbers.size;
    if (frames === 0 || this.#flaw) return;
    const end = this.#frames + frames;
    // As many different numbers as there are places: if none is beyond the last, none is missing.
    if (this.#highestNumber >= end) this.#flaw = 'irregular';
    this.#gops.push({
      start: this.#frames / this.#rate,
      duration: frames / this.#rate,
      bytes: this.#bytes,
    });
    this.#frames = end;
    this.#numbers = new Set();
    this.#bytes = 0;
    if ((this.#gops.length - DENSE_GOPS_ALLOWED) * DENSEST_SECONDS > this.#frames / this.#rate) {
      this.#flaw ??= 'dense_key_frames';
    }
  }
}
