import type { Random } from '@framelane/test-kit/random';
import type { History } from './history.ts';
import type { VirtualTime } from './virtual-time.ts';

/** How often each kind of fault happens, as a fraction of the operations that it can hit. */
export type FaultRates = {
  /** A request whose connection breaks before the server gets it. */
  lostRequest: number;
  /** A request whose connection breaks before the client gets the response. */
  lostResponse: number;
  /** A request that a proxy sends twice. */
  doubledRequest: number;
  /** A message that the broker loses before it confirms. */
  lostMessage: number;
  /** A message that the broker has, but whose confirm is lost. */
  lostConfirm: number;
  /** A message that is delivered twice. */
  doubledMessage: number;
  /** A channel that closes during a delivery: the broker delivers its messages again. */
  closedChannel: number;
  /** An operation of the object store that fails without an effect. */
  failedObject: number;
  /** An operation of the object store that has its effect, or a part of it, and then fails. */
  tornObject: number;
  /** An operation that takes seconds instead of milliseconds. */
  slow: number;
  /** A transcode that stalls, fails or dies. */
  failedMedia: number;
};

/** What all simulated systems of a run share. */
export type World = {
  time: VirtualTime;
  /** Decides what happens: order, latency and faults. */
  random: Random;
  history: History;
  faults: Faults;
};

/** Nothing fails. */
export const NO_FAULTS: FaultRates = {
  lostRequest: 0,
  lostResponse: 0,
  doubledRequest: 0,
  lostMessage: 0,
  lostConfirm: 0,
  doubledMessage: 0,
  closedChannel: 0,
  failedObject: 0,
  tornObject: 0,
  slow: 0,
  failedMedia: 0,
};

/** Decides by the seed which operations a fault hits. */
export class Faults {
  readonly #random: Random;
  readonly counts = new Map<string, number>();
  #rates: FaultRates;

  constructor(random: Random, rates: FaultRates) {
    this.#random = random;
    this.#rates = rates;
  }

  /** Whether this operation is hit. */
  hits(kind: keyof FaultRates): boolean {
    if (this.#random.fraction() >= this.#rates[kind]) return false;
    this.count(kind);
    return true;
  }

  /** Counts a fault. */
  count(kind: string): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  /** From now on, nothing fails. */
  end(): void {
    this.#rates = NO_FAULTS;
  }
}

/**
 * Waits for as long as bytes or an operation of another system take. What is under way goes on when the process that began it is killed, so the
 * caller passes the whole operation to `whileAlive`.
 */
export async function latency({ time, random, faults }: World, typicalMs = 2): Promise<void> {
  await time.sleep(faults.hits('slow') ? random.below(20_000) : random.fraction() * 2 * typicalMs);
}
