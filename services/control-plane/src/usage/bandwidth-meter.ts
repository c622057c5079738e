import { PACKAGINGS } from '@framelane/contracts/packaging';
import type { Logger } from '@framelane/service-kit/logger';
import type { RequestHandler } from 'express';
import { PeriodicWrite } from '../background/periodic-write.ts';
import type { Database } from '../db/database.ts';
import type { HlsKind, Metrics } from '../metrics/metrics.ts';
import { onSent } from './on-sent.ts';
import { addBandwidth, type SentBytes } from './usage.store.ts';
import { dayOf } from './usage-period.ts';

type Deps = { db: Database; logger: Logger; metrics: Metrics; flushSeconds: number };

/**
 * Counts in memory how many bytes of each video are sent, and stores the counts every few seconds and at the stop. A killed process
 * loses the bytes it has not stored. A commit whose confirmation is lost counts twice.
 */
export class BandwidthMeter {
  readonly #deps: Deps;
  /** By video and day. */
  #unstored = new Map<string, SentBytes>();
  readonly #storing: PeriodicWrite;

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#storing = new PeriodicWrite(() => this.#write(), deps.flushSeconds);
  }

  /** Counts every successful response below `/<workspace>/<video>/`. */
  readonly count: RequestHandler = (req, res, next) => {
    if (req.method !== 'OPTIONS') {
      const path = unescaped(req.path);
      const [, , videoId = ''] = path.split('/');
      onSent(res, (bytes) => {
        // Without headers there was no response, and the status is only a default.
        if (!res.headersSent || res.statusCode >= 400) return;
        this.#add({ videoId, day: dayOf(new Date()), bytes });
        this.#deps.metrics.hlsSent(kindOf(path), bytes);
      });
    }
    next();
  };

  /** Starts storing. */
  start(): void {
    this.#storing.start();
  }

  /** Stores the remaining bytes. Call it when all responses have ended. */
  stop(): Promise<void> {
    return this.#storing.stop();
  }

  #add({ videoId, day, bytes }: SentBytes): void {
    const key = `${videoId} ${day}`;
    const before = this.#unstored.get(key)?.bytes ?? 0;
    this.#unstored.set(key, { videoId, day, bytes: before + bytes });
  }

  async #write(): Promise<void> {
    const sent = [...this.#unstored.values()];
    if (sent.length === 0) return;
    this.#unstored = new Map();
    try {
      await addBandwidth(this.#deps.db, sent);
    } catch (error) {
      for (const each of sent) this.#add(each);
      this.#deps.logger.warn('usage.bandwidth_not_stored', { videos: sent.length, error });
    }
  }
}

/** Players can percent-encode the path of a video. A malformed encoding leads to an error response, which is not counted. */
function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** How the names of segments and initialization sections end. */
const SEGMENT_ENDINGS = Object.values(PACKAGINGS).flatMap(({ extension, initialization }) =>
  initialization === null ? [`.${extension}`] : [`.${extension}`, `/${initialization}`],
);

/** Images include texts: the index of the storyboard, segments of captions, and chapters. */
function kindOf(path: string): HlsKind {
  if (path.endsWith('.m3u8')) return 'playlist';
  if (SEGMENT_ENDINGS.some((ending) => path.endsWith(ending))) return 'segment';
  return path.endsWith('/key') ? 'key' : 'image';
}
