import type { VideoPacket } from './gop-scan.ts';

/** Key frames that are nearer to the previous one are left out: files may consist of key frames only. */
const MIN_SECONDS = 0.5;

/**
 * Frames before a first key frame that is later than this can probably be decoded: some streams refresh the picture part by part, and have hardly any
 * key frames (gradual decoding refresh). Recordings of television have one each second or two.
 */
const MAX_UNDECODABLE_SECONDS = 10;

/** Collects the times of the displayed key frames of a track, where a decoder can begin. */
export class KeyFrameScan {
  readonly #startTime: number;
  readonly #times: number[] = [];
  #lastDts = Number.NEGATIVE_INFINITY;
  #isAscending = true;
  #lastKeyTime = Number.NEGATIVE_INFINITY;
  #hasLeadingFrames = false;
  #beginsLate: boolean | undefined;
  #firstPicture: number | null = null;

  /** @param startTime earliest timestamp of the file, in seconds */
  constructor(startTime: number) {
    this.#startTime = startTime;
  }

  /** Adds a packet, in file order. */
  add({ pts, dts, isKey, isHidden }: Omit<VideoPacket, 'bytes' | 'hasNewDescription'>): void {
    this.#isAscending &&= !(dts < this.#lastDts);
    this.#beginsLate ??= !isKey;
    if (this.#beginsLate && isKey) this.#firstPicture ??= pts - this.#startTime;
    this.#lastDts = dts;
    if (isKey) this.#lastKeyTime = pts;
    else this.#hasLeadingFrames ||= pts < this.#lastKeyTime;
    if (!isKey || isHidden) return;
    const time = pts - this.#startTime;
    if (time >= (this.#times.at(-1) ?? Number.NEGATIVE_INFINITY) + MIN_SECONDS) this.#times.push(time);
  }

  /**
   * Seconds from the earliest timestamp of the file to the first key frame, if frames precede it in the file that need missing ones; null
   * otherwise.
   */
  get firstPicture(): number | null {
    const seconds = this.#firstPicture ?? 0;
    return seconds > 0 && seconds <= MAX_UNDECODABLE_SECONDS ? seconds : null;
  }

  /** Whether decoding timestamps ascend. They do not if an edit list has several edits: an index then cannot be searched by time. */
  get isAscending(): boolean {
    return this.#isAscending;
  }

  /** Whether frames are displayed before the key frame that they follow in the file: groups of pictures are open. */
  get hasLeadingFrames(): boolean {
    return this.#hasLeadingFrames;
  }

  /** Seconds from the earliest timestamp of the file, ascending. */
  get times(): readonly number[] {
    return this.#times;
  }
}
