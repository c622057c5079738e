import type { Failure } from './player.ts';

/** A stretch of the timeline in seconds; `height` is the short side of the frames, if there are any. */
type Range = { from: number; to: number; height?: number };

/** What the page reports of its playback. See `Beacon` of the contract. */
export type Report = {
  watched: Range[];
  watchSeconds: number;
  startupSeconds?: number;
  stalls: number;
  stallSeconds: number;
  error?: Failure;
};

/** The contract allows no more. */
const MAX_RANGES = 60;

/**
 * Records what is played, in totals that only grow. Times are milliseconds of one clock. The reports of a page can be united: a later one has only the
 * latest ranges.
 */
export class PlaybackLog {
  #ranges: Range[] = [];
  /** Where the last range can go on; undefined after a jump. */
  #position: number | undefined;
  #watchSeconds = 0;
  #requestedAt: number | undefined;
  #startupSeconds: number | undefined;
  /** Whether an earlier report has the start. */
  #isStartReported = false;
  #stalls = 0;
  #stallSeconds = 0;
  #stalledAt: number | undefined;
  #error: Failure | undefined;

  /** The viewer or the page wants to play. */
  requested(now: number): void {
    this.#requestedAt ??= now;
  }

  /** The media plays, at first or again. */
  playing(now: number): void {
    this.requested(now);
    this.#startupSeconds ??= (now - (this.#requestedAt ?? now)) / 1000;
    if (this.#stalledAt !== undefined) this.#stallSeconds += (now - this.#stalledAt) / 1000;
    this.#stalledAt = undefined;
  }

  /** Data is missing. Before the first frame that is a part of the start. */
  stalled(now: number): void {
    if (this.#startupSeconds === undefined || this.#stalledAt !== undefined) return;
    this.#stalls += 1;
    this.#stalledAt = now;
  }

  /** The position changes without being played. */
  jumped(): void {
    this.#position = undefined;
    // Nobody waits for the old position any more.
    this.#stalledAt = undefined;
  }

  /** The media has played up to this position. */
  moved(position: number, { height, rate }: { height: number; rate: number }): void {
    const before = this.#position;
    this.#position = position;
    if (before === undefined || position <= before) return;
    this.#watchSeconds += (position - before) / rate;
    const last = this.#ranges.at(-1);
    const size = height > 0 ? { height } : {};
    if (last?.to === before && last.height === size.height) last.to = position;
    else this.#ranges.push({ from: before, to: position, ...size });
    if (this.#ranges.length > MAX_RANGES) this.#ranges.shift();
  }

  failed(failure: Failure): void {
    if (this.#error !== 'unsupported') this.#error = failure;
  }

  /** Begins another report, of a playback that goes on: the totals begin again, and the start was in the report before. */
  restart(): void {
    this.#ranges = [];
    this.#watchSeconds = 0;
    this.#stalls = 0;
    this.#stallSeconds = 0;
    this.#stalledAt = undefined;
    this.#isStartReported = this.#startupSeconds !== undefined;
    this.#error = undefined;
  }

  report(): Report {
    return {
      watched: this.#ranges.map((range) => ({ ...range, from: rounded(range.from), to: rounded(range.to) })),
      watchSeconds: rounded(this.#watchSeconds),
      ...(this.#startupSeconds !== undefined &&
        !this.#isStartReported && { startupSeconds: rounded(this.#startupSeconds) }),
      stalls: this.#stalls,
      stallSeconds: rounded(this.#stallSeconds),
      ...(this.#error !== undefined && { error: this.#error }),
    };
  }
}

/** To hundredths: a beacon with many ranges must be short. */
function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100;
}
