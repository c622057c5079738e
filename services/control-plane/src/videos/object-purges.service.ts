import { sourcePrefix, transferOf } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { artifactPrefixes } from '../artifacts/artifacts.service.ts';
import { type DueWork, RENEWED_CLAIM_SECONDS } from '../background/due-loop.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import {
  claimDuePurges,
  type DuePurge,
  endPurge,
  findPurgeBacklog,
  releasePurges,
  renewPurgeClaim,
  scheduleNextPass,
} from './object-purges.store.ts';
import { acceptsUploads, closedPrefixes, orphanedPrefix, prefixOf } from './orphaned-objects.ts';
import { findVideoOrTombstone } from './videos.store.ts';

/** Passes of a purge. The later ones find objects that a disconnected engine stored after the first one. */
const PASSES = 3;

/** The transfers of videos that wait for their file; see `EndedTransfers`. */
type Transfers = {
  hasEnded(transfer: { videoId: string; transferId: string }): Promise<boolean>;
  endPass(videoId: string, endPass: (trx: Database) => Promise<boolean>): Promise<void>;
};

/** Purges orphaned objects: those of no artifact of their video. */
export class ObjectPurges implements DueWork<DuePurge> {
  readonly name = 'object-purges';
  readonly pollMs = 1000;
  // A separate limit: an object store that does not respond delays no other background work.
  readonly concurrency = 4;
  readonly #db: Database;
  readonly #objects: ObjectStore;
  readonly #transfers: Transfers;
  readonly #purgeRepeatSeconds: number;

  /** The second pass begins after `purgeRepeatSeconds`, the third after twice that time. */
  constructor(deps: {
    db: Database;
    objects: ObjectStore;
    transfers: Transfers;
    purgeRepeatSeconds: number;
  }) {
    this.#db = deps.db;
    this.#objects = deps.objects;
    this.#transfers = deps.transfers;
    this.#purgeRepeatSeconds = deps.purgeRepeatSeconds;
  }

  claim(limit: number): Promise<DuePurge[]> {
    return claimDuePurges(this.#db, limit, RENEWED_CLAIM_SECONDS);
  }

  renew(purge: DuePurge): Promise<void> {
    return renewPurgeClaim(this.#db, purge, RENEWED_CLAIM_SECONDS);
  }

  /** Makes one pass and schedules the next. A pass that fails is retried when its claim has expired, until it succeeds. */
  async perform(purge: DuePurge): Promise<void> {
    await this.#purge(purge.videoId);
    const seconds = this.#purgeRepeatSeconds * purge.pass;
    await this.#transfers.endPass(purge.videoId, (trx) =>
      purge.pass < PASSES ? scheduleNextPass(trx, purge, seconds) : endPurge(trx, purge),
    );
  }

  /** Ends the claims of processes that died. Call it only while no control plane runs. */
  releaseClaims(): Promise<void> {
    return releasePurges(this.#db);
  }

  /** The due purges, including those in progress. */
  backlog(): Promise<Backlog> {
    return findPurgeBacklog(this.#db);
  }

  async #purge(videoId: string): Promise<void> {
    const video = await findVideoOrTombstone(this.#db, videoId);
    if (video === undefined) return;
    const sources = sourcePrefix(video.workspace_id, videoId);
    if (acceptsUploads(video)) await this.#purgeEndedTransfers(sources);
    else await this.#objects.abortUploads(sources);
    // Read after the video, so that they include those of the result that closed a prefix.
    const artifacts = await artifactPrefixes(this.#db, video);
    for (const prefix of closedPrefixes(video)) await this.#purgeBelow(prefix, artifacts);
  }

  /** Purges the objects below a prefix that are below none of those of artifacts. */
  async #purgeBelow(prefix: string, artifacts: readonly string[]): Promise<void> {
    const ofPrefix = artifacts.filter((each) => each.startsWith(prefix));
    if (ofPrefix.length === 0) {
      await this.#objects.deletePrefix(prefix);
      return;
    }
    const orphaned = new Set<string>();
    for await (const { key } of this.#objects.list(prefix)) {
      const each = orphanedPrefix(key, ofPrefix);
      if (each !== null) orphaned.add(each);
    }
    for (const each of orphaned) await this.#objects.deletePrefix(each);
  }

  /** Purges what transfers have stored that ended unregistered, while the video still waits for its file. */
  async #purgeEndedTransfers(sources: string): Promise<void> {
    const mayContinue = async (key: string) => {
      const transfer = transferOf(key);
      return transfer === null || !(await this.#transfers.hasEnded(transfer));
    };
    await this.#objects.abortUploads(sources, mayContinue);
    for await (const { key } of this.#objects.list(sources)) {
      if (!(await mayContinue(key))) await this.#objects.deletePrefix(prefixOf(key));
    }
  }
}
