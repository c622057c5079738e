import type { VideoPacket } from './gop-scan.ts';

/**
 * By second from the earliest timestamp of the file: how much the picture changes, in whole pictures. Seconds without a packet are not in the
 * map. A scene cut changes one picture.
 */
export type PictureChanges = ReadonlyMap<number, number>;

/** Key frames that are nearer to the previous one may be cuts. Others are usually there for seeking, and change nothing. */
const SEEKING_SECONDS = 1.5;

/**
 * Measures how much the picture of a track changes, without decoding: encoders spend few bytes on what stays the same. The bytes of a frame are counted
 * as a part of the last key frame, so the size of the picture hardly matters. With a lower quality, encoders save more on the other frames.
 */
export class ChangeScan {
  readonly #startTime: number;
  readonly #pictures = new Map<number, number>();
  #keyBytes = 0;
  #keyTime = Number.NEGATIVE_INFINITY;
  #time = 0;

  /** @param startTime earliest timestamp of the file, in seconds */
  constructor(startTime: number) {
    this.#startTime = startTime;
  }

  /** Adds a packet, in file order. One without a timestamp has that of the packet before it. */
  add({ pts, dts, bytes, isKey, isHidden }: Omit<VideoPacket, 'hasNewDescription'>): void {
    const time = (Number.isNaN(pts) ? dts : pts) - this.#startTime;
    if (!Number.isNaN(time)) this.#time = time;
    const pictures = isKey ? this.#cuts() : this.#part(bytes);
    if (isKey) {
      this.#keyBytes = bytes;
      this.#keyTime = this.#time;
    }
    if (isHidden) return;
    const second = Math.floor(this.#time);
    this.#pictures.set(second, (this.#pictures.get(second) ?? 0) + pictures);
  }

  result(): PictureChanges {
    return this.#pictures;
  }

  #cuts(): number {
    return this.#time - this.#keyTime < SEEKING_SECONDS ? 1 : 0;
  }

  #part(bytes: number): number {
    return this.#keyBytes > 0 ? bytes / this.#keyBytes : 1;
  }
}
