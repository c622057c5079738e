import { sourcePrefix, taskPrefix, transferOf } from '@framelane/object-store/object-keys';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { artifactPrefixes } from '../artifacts/artifacts.service.ts';
import { type DueWork, RENEWED_CLAIM_SECONDS } from '../background/due-loop.ts';
import type { Database } from '../db/database.ts';
import type { Backlog } from '../db/due-rows.ts';
import type { VideoRow } from '../db/schema.ts';
import {
  claimDuePurges,
  type DuePurge,
  endPurge,
  findPurgeBacklog,
  findTasks,
  releasePurges,
  renewPurgeClaim,
  scheduleNextPass,
} from './object-purges.store.ts';
import { acceptsUploads, closedPrefixes, isOrphaned, prefixOf } from './orphaned-objects.ts';
import { findVideoOrTombstone } from './videos.store.ts';

/** Passes of a purge. The later ones find objects that a disconnected engine stored after the first one. */
const PASSES = 3;

/** The transfers of videos that wait for their file; see `EndedTransfers`. */
type Transfers = {
  hasEnded(transfer: { videoId: string; transferId: string }): Promise<boolean>;
  endPass(videoId: string, endPass: (trx: Database) => Promise<boolean>): Promise<void>;
};

type Deps = {
  db: Database;
  objects: ObjectStore;
  transfers: Transfers;
  purgeRepeatSeconds: number;
};

/** Purges orphaned objects: those of no artifact of their video. */
export class ObjectPurges implements DueWork<DuePurge> {
  readonly name = 'object-purges';
  // A separate limit: an object store that does not respond delays no other background work.
  readonly concurrency = 4;
  readonly #deps: Deps;

  /** The second pass begins after `purgeRepeatSeconds`, the third after twice that time. */
  constructor(deps: Deps) {
    this.#deps = deps;
  }

  claim(limit: number): Promise<DuePurge[]> {
    return claimDuePurges(this.#deps.db, limit, RENEWED_CLAIM_SECONDS);
  }

  renew(purge: DuePurge): Promise<void> {
    return renewPurgeClaim(this.#deps.db, purge, RENEWED_CLAIM_SECONDS);
  }

  /** Makes one pass and schedules the next. A pass that fails is retried when its claim has expired, until it succeeds. */
  async perform(purge: DuePurge): Promise<void> {
    await this.#purge(purge.videoId);
    const seconds = this.#deps.purgeRepeatSeconds * purge.pass;
    await this.#deps.transfers.endPass(purge.videoId, (trx) =>
      purge.pass < PASSES ? scheduleNextPass(trx, purge, seconds) : endPurge(trx, purge),
    );
  }

  /** Ends the claims of processes that died. Call it only while no control plane runs. */
  releaseClaims(): Promise<void> {
    return releasePurges(this.#deps.db);
  }

  /** The due purges, including those in progress. */
  backlog(): Promise<Backlog> {
    return findPurgeBacklog(this.#deps.db);
  }

  async #purge(videoId: string): Promise<void> {
    const video = await findVideoOrTombstone(this.#deps.db, videoId);
    if (video === undefined) return;
    const sources = sourcePrefix(video.workspace_id, videoId);
    if (acceptsUploads(video)) await this.#purgeEndedTransfers(sources);
    else await this.#deps.objects.abortUploads(sources);
    for (const prefix of closedPrefixes(video)) await this.#purgeBelow(prefix, video);
  }

  /** Purges the objects below a prefix that belong to no artifact and to no task. */
  async #purgeBelow(prefix: string, video: VideoRow): Promise<void> {
    const kept = async () =>
      (await keptPrefixes(this.#deps.db, video)).filter((each) => each.startsWith(prefix));
    // Tasks are added only to attempts with artifacts.
    if ((await kept()).length === 0) {
      await this.#deps.objects.deletePrefix(prefix);
      return;
    }
    const found = new Set<string>();
    for await (const { key } of this.#deps.objects.list(prefix)) found.add(prefixOf(key));
    // Read after the objects: a task that stored one of them is still there, or its artifacts are.
    const keptNow = await kept();
    for (const each of found) if (isOrphaned(each, keptNow)) await this.#deps.objects.deletePrefix(each);
  }

  /** Purges what transfers have stored that ended unregistered, while the video still waits for its file. */
  async #purgeEndedTransfers(sources: string): Promise<void> {
    const mayContinue = async (key: string) => {
      const transfer = transferOf(key);
      return transfer === null || !(await this.#deps.transfers.hasEnded(transfer));
    };
    await this.#deps.objects.abortUploads(sources, mayContinue);
    for await (const { key } of this.#deps.objects.list(sources)) {
      if (!(await mayContinue(key))) await this.#deps.objects.deletePrefix(prefixOf(key));
    }
  }
}

/** The prefixes of all objects that artifacts of a video have, or its tasks can have stored. In one snapshot: the end of a task adds artifacts. */
function keptPrefixes(db: Database, video: VideoRow): Promise<string[]> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read');
  return snapshot.execute(async (trx) => {
    const { id: videoId, workspace_id: workspaceId } = video;
    const tasks = await findTasks(trx, videoId);
    const ofTasks = tasks.map(({ attempt, task }) => taskPrefix({ workspaceId, videoId, attempt }, task));
    return [...ofTasks, ...(await artifactPrefixes(trx, video))];
  });
}
