import type { VideoPacket } from './gop-scan.ts';

/** Key frames that are nearer to the previous one are left out: files may consist of key frames only. */
const MIN_SECONDS = 0.5;

/** Collects the times of the displayed key frames of a track, where a decoder can begin. */
export class KeyFrameScan {
  readonly #startTime: number;
  readonly #times: number[] = [];
  #lastDts = Number.NEGATIVE_INFINITY;
  #isAscending = true;
  #lastKeyTime = Number.NEGATIVE_INFINITY;
  #hasLeadingFrames = false;

  /** @param startTime earliest timestamp of the file, in seconds */
  constructor(startTime: number) {
    this.#startTime = startTime;
  }

  /** Adds a packet, in file order. */
  add({ pts, dts, isKey, isHidden }: Omit<VideoPacket, 'bytes' | 'hasNewDescription'>): void {
    this.#isAscending &&= !(dts < this.#lastDts);
    this.#lastDts = dts;
    if (isKey) this.#lastKeyTime = pts;
    else this.#hasLeadingFrames ||= pts < this.#lastKeyTime;
    if (!isKey || isHidden) return;
    const time = pts - this.#startTime;
    if (time >= (this.#times.at(-1) ?? Number.NEGATIVE_INFINITY) + MIN_SECONDS) this.#times.push(time);
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
