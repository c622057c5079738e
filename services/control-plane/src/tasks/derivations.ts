import type { ClaimedDerivation } from '@framelane/contracts/internal-api';
import { DERIVATION_COMMANDS } from '@framelane/contracts/outputs/kinds';
import { commandFor, type Derivation, partsFor } from '@framelane/contracts/outputs/tasks';
import { outputPrefix } from '@framelane/object-store/object-keys';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { inBase64 } from '../outputs/initialization-section.ts';
import { deleteDerivations, findTracks, sumOfBytes, type TrackRow } from './derivations.store.ts';
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
    tasks.push({ work, command: commandFor(work), frames: 0, inputBytes });
  }
  await insertTasks(trx, attempt, tasks);
  await makeFirstCommandsDue(trx, video);
}

async function makeFirstCommandsDue(trx: Database, { id: videoId, attempt }: VideoRow): Promise<void> {
  for (const command of DERIVATION_COMMANDS)
    await makeCommandsDue(trx, { videoId, attempt, command }, COMMANDS_AT_ONCE);
}

/** The most bytes of captions for a second of speech, for the quota: people read less. */
const CAPTIONS_BYTES_PER_SECOND = 50;

/**
 * Bytes that derivations of a video of some seconds may store: for captions an estimate, for everything else those that it reads, because it is
 * made without encoding.
 */
export async function bytesStored(
  db: Database,
  video: Pick<VideoRow, 'id'>,
  works: readonly Derivation[],
  seconds: number,
): Promise<number> {
  const transcripts = works.filter(({ kind }) => kind === 'transcript');
  const others = works.filter(({ kind }) => kind !== 'transcript');
  const ofCaptions = Math.ceil(transcripts.length * seconds * CAPTIONS_BYTES_PER_SECOND);
  return ofCaptions + (await bytesRead(db, video, others));
}

/** Bytes of the stored renditions that derivations of a video read, each for itself. */
function bytesRead(
  db: Database,
  { id }: Pick<VideoRow, 'id'>,
  works: readonly Derivation[],
): Promise<number> {
  return sumOfBytes(db, id, works.flatMap(partsFor));
}

/**
 * Ends the derivations of a locked video whose work has these members; an engine that works on one stops. If their commands were the only ones
 * of the video, those that remain get commands. The caller makes a purge due if they store objects.
 */
export async function endDerivations(
  trx: Database,
  video: VideoRow,
  members: Partial<Derivation>,
): Promise<void> {
  await deleteDerivations(trx, video.id, members);
  await makeFirstCommandsDue(trx, video);
}

/** What an engine must know of the renditions that a derivation of a ready video reads. */
export async function describeDerivation(
  trx: Database,
  video: VideoRow,
  work: Derivation,
): Promise<Pick<ClaimedDerivation, 'work' | 'packaging' | 'tracks' | 'duration' | 'startTimestamp'>> {
  const { id: videoId, workspace_id: workspaceId, packaging, duration } = video;
  const { start_timestamp: startTimestamp } = video;
  const parts = partsFor(work);
  const found = await findTracks(trx, videoId, parts);
  const tracks = parts.map(({ rendition }) => {
    const track = found.find(({ name }) => name === rendition);
    if (track === undefined) throw new Error(`Video ${videoId} has no rendition ${rendition}`);
    const places = placesOf(track).map(({ firstSegment, attempt, folder }) => ({
      firstSegment,
      prefix: outputPrefix({ workspaceId, videoId, attempt, folder }),
    }));
    const { initialization, ...facts } = track;
    return { ...facts, ...inBase64(initialization), places };
  });
  if (duration === null || startTimestamp === null) throw new Error(`Video ${videoId} is not ready`);
  return { work, packaging, tracks, duration, startTimestamp };
}

/** The places of the segments of a part: a rendition of hours has hundreds of places. */
function placesOf({ places, firstSegment, segmentBytes }: TrackRow): TrackRow['places'] {
  const end = firstSegment + segmentBytes.length;
  return places.filter((place, at) => {
    const next = places[at + 1]?.firstSegment ?? end;
    return place.firstSegment < end && next > firstSegment;
  });
}
