import type { Logger } from '@framelane/service-kit/logger';
import type { RequestHandler } from 'express';
import type { Database } from '../db/database.ts';
import type { HlsKind, Metrics } from '../metrics/metrics.ts';
import { addBandwidth, type SentBytes } from './usage.store.ts';
import { dayOf } from './usage-period.ts';
import { whenSent } from './when-sent.ts';

/**
 * Counts the bytes sent of videos in memory and writes them down every few seconds, and when it stops: a process that
 * is killed loses what it had not written yet, and a commit whose answer is lost with the connection counts twice.
 */
export class BandwidthMeter {
  readonly #db: Database;
  readonly #logger: Logger;
  readonly #metrics: Metrics;
  readonly #flushSeconds: number;
  /** By video and day. */
  #unwritten = new Map<string, SentBytes>();
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: { db: Database; logger: Logger; metrics: Metrics; flushSeconds: number }) {
    this.#db = deps.db;
    this.#logger = deps.logger;
    this.#metrics = deps.metrics;
    this.#flushSeconds = deps.flushSeconds;
  }

  /** Counts every answer below `/<workspace>/<video>/` that is not an error. */
  readonly count: RequestHandler = (req, res, next) => {
    if (req.method !== 'OPTIONS') {
      const path = unescaped(req.path);
      const [, , videoId = ''] = path.split('/');
      whenSent(res, (bytes) => {
        // A client that hangs up early gets no answer; until there is one, the status says nothing.
        if (!res.headersSent || res.statusCode >= 400) return;
        this.#add({ videoId, day: dayOf(new Date()), bytes });
        this.#metrics.hlsSent(kindOf(path), bytes);
      });
    }
    next();
  };

  /** Begins to write. */
  start(): void {
    this.#timer = setInterval(() => this.#flush(), this.#flushSeconds * 1000);
  }

  /** Writes what is left. Call it when nothing is sent any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  #add({ videoId, day, bytes }: SentBytes): void {
    const key = `${videoId} ${day}`;
    const before = this.#unwritten.get(key)?.bytes ?? 0;
    this.#unwritten.set(key, { videoId, day, bytes: before + bytes });
  }

  /** One write at a time; resolves when all that was counted before the call has been tried. */
  #flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const sent = [...this.#unwritten.values()];
    if (sent.length === 0) return;
    this.#unwritten = new Map();
    try {
      await addBandwidth(this.#db, sent);
    } catch (error) {
      for (const each of sent) this.#add(each);
      this.#logger.warn('usage.bandwidth_not_written', { videos: sent.length, error });
    }
  }
}

/** However a player escapes the path of a video, it is the same video. Nothing is delivered where escapes are broken. */
function unescaped(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

function kindOf(path: string): HlsKind {
  if (path.endsWith('.m3u8')) return 'playlist';
  if (path.endsWith('.ts')) return 'segment';
  return path.endsWith('/key') ? 'key' : 'image';
}
