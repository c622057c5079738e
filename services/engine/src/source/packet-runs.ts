/** Consecutive packets of a track, in the order of decoding. Times are in seconds from the earliest timestamp of the file. */
export type PacketRun = {
  /** The later of the first packet's two timestamps; null unless that packet is a key frame. */
  keyTime: number | null;
  /** The earliest presentation timestamp. */
  earliest: number;
  packets: number;
  /** The part of the file that contains them: first byte and the byte after the last one. */
  start: number;
  end: number;
};

/** A key frame begins a new run if the current run has this many packets. Files may consist of key frames only. */
const MIN_PACKETS = 8;
/** Any packet begins a new run if the current run has this many packets. */
const MAX_PACKETS = 32;

/** Collects the positions of the packets of a track. */
export class PacketRuns {
  readonly #startTime: number;
  readonly #runs: PacketRun[] = [];
  #isUsable = true;

  /** @param startTime earliest timestamp of the file, in seconds */
  constructor(startTime: number) {
    this.#startTime = startTime;
  }

  /** Adds a packet. Times are in seconds; what is unknown is NaN. */
  add({
    pts,
    dts,
    at,
    bytes,
    isKey,
  }: {
    pts: number;
    dts: number;
    at: number;
    bytes: number;
    isKey: boolean;
  }): void {
    this.#isUsable &&= [pts, dts, at, bytes].every(Number.isFinite);
    const time = pts - this.#startTime;
    let run = this.#runs.at(-1);
    if (run === undefined || run.packets >= MAX_PACKETS || (isKey && run.packets >= MIN_PACKETS)) {
      const keyTime = isKey ? Math.max(pts, dts) - this.#startTime : null;
      run = { keyTime, earliest: time, packets: 0, start: at, end: at };
      this.#runs.push(run);
    }
    run.packets += 1;
    run.earliest = Math.min(run.earliest, time);
    run.start = Math.min(run.start, at);
    run.end = Math.max(run.end, at + bytes);
  }

  /** Null if the position or a timestamp of any packet is unknown. */
  result(): readonly PacketRun[] | null {
    return this.#isUsable && this.#runs.length > 0 ? this.#runs : null;
  }
}
