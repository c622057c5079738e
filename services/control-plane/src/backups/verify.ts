import type { ObjectStore } from '@framelane/object-store/object-store';
import type { Database } from '../db/database.ts';
import { longSnapshot } from '../db/long-transactions.ts';
import { allObjects } from './all-objects.ts';
import { allNamedObjects, findStoredVideo, hasWorkInProgress } from './named-objects.store.ts';
import { type NamedObject, namedObjects } from './named-objects.ts';
import { type Pair, paired } from './paired.ts';

/** A difference between the rows and the objects. */
export type Finding =
  | { kind: 'missing'; key: string; bytes: number }
  /** `bytes` are those of the rows. */
  | { kind: 'other_size'; key: string; bytes: number; storedBytes: number }
  | { kind: 'orphaned'; key: string; storedBytes: number };

/** Every finding, and how many objects are as the rows say, or belong to work in progress. */
export type Verification = { findings: Finding[]; matching: number; inProgress: number };

type Listed = { key: string; bytes: number; modifiedAt: Date };

/**
 * Compares the objects that the rows name with those that are stored: one pass over both, in the same order. Rows and objects change meanwhile,
 * so each difference is checked again before it is reported. An object that no row names is orphaned unless it is younger than `graceSeconds`,
 * or its video has work in progress: an upload, a transcode, another task, or a purge.
 */
export async function verify(
  db: Database,
  objects: ObjectStore,
  { graceSeconds }: { graceSeconds: number },
): Promise<Verification> {
  const result: Verification = { findings: [], matching: 0, inProgress: 0 };
  const check = checkAgain(db, objects, new Date(Date.now() - graceSeconds * 1000));
  await longSnapshot(db, async (trx) => {
    for await (const pair of paired(allNamedObjects(trx), allObjects(objects))) {
      const finding = pair.left?.bytes === pair.right?.bytes ? 'matching' : await check(pair);
      if (finding === 'matching' || finding === 'inProgress') result[finding] += 1;
      else result.findings.push(finding);
    }
  });
  return result;
}

/** Checks a difference again: with the rows and the object of now. */
function checkAgain(db: Database, objects: ObjectStore, before: Date) {
  const videoOf = lastUsed((videoId: string) => readVideo(db, videoId));
  return async ({ key, right }: Pair<NamedObject, Listed>): Promise<Finding | 'matching' | 'inProgress'> => {
    const { namedBytes, isInProgress } = await videoOf(key.split('/')[2] ?? '');
    const bytes = namedBytes.get(key);
    if (bytes === undefined) {
      if (right === undefined) return 'inProgress';
      if (isInProgress || right.modifiedAt > before) return 'inProgress';
      return { kind: 'orphaned', key, storedBytes: right.bytes };
    }
    const info = await objects.head(key);
    if (info?.bytes === bytes) return 'matching';
    return info === null
      ? { kind: 'missing', key, bytes }
      : { kind: 'other_size', key, bytes, storedBytes: info.bytes };
  };
}

async function readVideo(
  db: Database,
  videoId: string,
): Promise<{ namedBytes: ReadonlyMap<string, number>; isInProgress: boolean }> {
  const video = await findStoredVideo(db, videoId);
  const namedBytes = new Map((video ? namedObjects(video) : []).map(({ key, bytes }) => [key, bytes]));
  return { namedBytes, isInProgress: await hasWorkInProgress(db, videoId) };
}

/** Keeps the result for the last argument: the keys of a video follow each other. */
function lastUsed<T>(read: (key: string) => Promise<T>): (key: string) => Promise<T> {
  let last: { key: string; value: Promise<T> } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, value: read(key) };
    return last.value;
  };
}
