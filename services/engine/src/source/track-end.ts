/** ffmpeg rounds the beginning of an edit. */
const TOLERANCE_SECONDS = 0.001;

/** Finds the packets after the end of a track that an empty edit follows: ffmpeg shows its beginning again there. */
export class TrackEnd {
  readonly #shownUntil: number;
  #end: number | undefined;

  /** @param shownUntil see VideoTrack */
  constructor(shownUntil = Number.POSITIVE_INFINITY) {
    this.#shownUntil = shownUntil;
  }

  /**
   * Whether a packet comes after the end. Packets are in file order. If there are B-frames, ffmpeg may begin the empty edit early by the
   * delay of the first packet (measured), so the track ends before that.
   */
  isPassedAt(pts: number, dts: number): boolean {
    this.#end ??= this.#shownUntil - TOLERANCE_SECONDS - (Math.max(0, pts - dts) || 0);
    return pts >= this.#end;
  }
}
