import type { components } from '@framelane/openapi/types';
import {
  COUNTED_NETWORKS,
  rateLimited,
  WINDOW_SECONDS,
  WindowCounter,
} from '../rate-limits/window-counter.ts';
import type { ViewMeter } from './view-meter.ts';
import { sessionIdOf } from './view-report.ts';
import type { Device } from './viewer-facts.ts';
import type { Visitors } from './visitors.ts';

export type Beacon = components['schemas']['Beacon'];

/** Who sends a beacon. The address serves for the limit and the hash, and is not stored. */
export type Sender = { network: string; userAgent: string; device: Device; country: string | null };

type Deps = { meter: ViewMeter; visitors: Visitors; perMinute: number };

/** Takes the beacons of players in. Anybody can send them, so it believes little and stores nothing at once. */
export class BeaconsService {
  readonly #deps: Deps;
  readonly #sent = new WindowCounter({ seconds: WINDOW_SECONDS, names: COUNTED_NETWORKS });

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Counts a beacon. Throws 429 `rate_limited` if the network of the sender has sent too many. */
  async count(
    { workspaceId, videoId }: { workspaceId: string; videoId: string },
    beacon: Beacon,
    { network, userAgent, device, country }: Sender,
  ): Promise<void> {
    this.#limit(network);
    const { day, hash } = await this.#deps.visitors.today({ workspaceId, network, userAgent });
    this.#deps.meter.add({
      day,
      workspaceId,
      videoId,
      sessionId: sessionIdOf(beacon.session),
      visitor: hash,
      device,
      country,
      watched: beacon.watched ?? [],
      segments: [],
      watchMs: beacon.watchSeconds === undefined ? null : milliseconds(beacon.watchSeconds),
      startupMs: beacon.startupSeconds === undefined ? null : milliseconds(beacon.startupSeconds),
      stalls: beacon.stalls ?? 0,
      stallMs: milliseconds(beacon.stallSeconds ?? 0),
      error: beacon.error ?? null,
    });
  }

  #limit(network: string): void {
    if (this.#deps.perMinute === 0) return;
    const { count, secondsLeft } = this.#sent.add(network);
    if (count > this.#deps.perMinute) {
      throw rateLimited('Too many beacons came from your network.', secondsLeft);
    }
  }
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}
