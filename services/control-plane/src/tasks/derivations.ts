import type { ClaimedDerivation } from '@framelane/contracts/internal-api';
import { type Derivation, renditionsFor } from '@framelane/contracts/outputs/tasks';
import { outputPrefix } from '@framelane/object-store/object-keys';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { deleteDerivations, findTracks, sumOfBytes } from './derivations.store.ts';
import { insertTasks, makeCommandsDue } from './tasks.store.ts';

/** Commands of derivations of one video that wait in the queue. */
const COMMANDS_AT_ONCE = 2;

/** Begins derivations of a ready video, which is locked: engines claim them like the tasks of a plan. */
export async function beginDerivations(
  trx: Database,
  video: VideoRow,
  works: readonly Derivation[],
): Promise<void> {
  if (works.length === 0) return;
  const attempt = { videoId: video.id, attempt: video.attempt };
  const tasks = [];
  for (const work of works) {
    const inputBytes = await bytesRead(trx, video, [work]);
    tasks.push({ work, command: 'derive', frames: 0, inputBytes } as const);
  }
  await insertTasks(trx, attempt, tasks);
  await makeCommandsDue(trx, { ...attempt, command: 'derive' }, COMMANDS_AT_ONCE);
}

/** Bytes of the stored renditions that derivations of a video read, each for itself. */
export async function bytesRead(
  db: Database,
  { id }: VideoRow,
  works: readonly Derivation[],
): Promise<number> {
  let sum = 0;
  for (const work of works) sum += await sumOfBytes(db, id, renditionsFor(work));
  return sum;
}

/**
 * Ends the derivations of a locked video whose work has these members; an engine that works on one stops. If their commands were the only ones
 * of the video, those that remain get commands. The caller makes a purge due.
 */
export async function endDerivations(
  trx: Database,
  video: VideoRow,
  members: Partial<Derivation>,
): Promise<void> {
  await deleteDerivations(trx, video.id, members);
  const attempt = { videoId: video.id, attempt: video.attempt };
  await makeCommandsDue(trx, { ...attempt, command: 'derive' }, COMMANDS_AT_ONCE);
}

/** What an engine must know of the renditions that a derivation of a ready video reads. */
export async function describeDerivation(
  trx: Database,
  video: VideoRow,
  work: Derivation,
): Promise<Pick<ClaimedDerivation, 'work' | 'tracks' | 'duration' | 'startTimestamp'>> {
  const { id: videoId, workspace_id: workspaceId, duration, start_timestamp: startTimestamp } = video;
  const names = renditionsFor(work);
  const found = await findTracks(trx, videoId, names);
  const tracks = names.map((name) => {
    const track = found.find((each) => each.name === name);
    if (track === undefined) throw new Error(`Video ${videoId} has no rendition ${name}`);
    const places = track.places.map(({ firstSegment, attempt, folder }) => ({
      firstSegment,
      prefix: outputPrefix({ workspaceId, videoId, attempt, folder }),
    }));
    return { ...track, places };
  });
  if (duration === null || startTimestamp === null) throw new Error(`Video ${videoId} is not ready`);
  return { work, tracks, duration, startTimestamp };
}
