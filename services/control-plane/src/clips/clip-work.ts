import { planClip } from '@framelane/contracts/clip-plan';
import type { ClaimedClip } from '@framelane/contracts/internal-api';
import { I_FRAME_RENDITION, isAudioRendition } from '@framelane/contracts/renditions';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { imageKey, outputPrefix } from '@framelane/object-store/object-keys';
import { completedPlan } from '../attempts/attempts.service.ts';
import type { Database } from '../db/database.ts';
import type { ClipRow, VideoRow } from '../db/schema.ts';
import { inBase64 } from '../outputs/initialization-section.ts';
import {
  findClip,
  findParentRenditions,
  findPoster,
  findReadyVideo,
  type ParentRendition,
} from './clips.store.ts';

/** How a clip is made of its parent. */
export type PlannedClip = {
  parent: VideoRow;
  renditions: readonly ParentRendition[];
  plan: TranscodePlan;
  work: ClaimedClip['work'];
};

/** The plan of a clip: `not_a_clip` for another video, `parent_deleted` if its parent is not there any more. The same each time. */
export async function findClipPlan(
  db: Database,
  { id }: Pick<VideoRow, 'id'>,
): Promise<PlannedClip | 'not_a_clip' | 'parent_deleted'> {
  const clip = await findClip(db, id);
  if (clip === undefined) return 'not_a_clip';
  const parent = await findReadyVideo(db, clip.parent_id);
  const parentPlan = parent && (await completedPlan(db, parent.id));
  if (parent === undefined || parentPlan === undefined) return 'parent_deleted';
  const renditions = await findParentRenditions(db, parent.id);
  const window = { firstFrame: clip.first_frame, frames: clip.frames };
  const { plan, work } = planClip(parentPlan, renditions, window);
  const facts = factsOf(parent, renditions, plan, clip);
  return { parent, renditions, work, plan: { ...plan, facts, tasks: [], optionalTasks: [] } };
}

/** The facts about the source of a clip are those of its parent, except its length. Captions and chapters are stored before it is made. */
function factsOf(
  { source, width, height, frame_rate: frameRate }: VideoRow,
  renditions: readonly ParentRendition[],
  { encode }: Pick<TranscodePlan, 'encode'>,
  clip: ClipRow,
): TranscodePlan['facts'] {
  const tracks = new Map<number, TranscodePlan['facts']['audioTracks'][number]>();
  for (const { name, index } of encode.audio) {
    const track = renditions.find((each) => each.name === name);
    if (track?.label == null) throw new Error(`The parent of ${clip.video_id} has no ${name}`);
    tracks.set(index, { index, language: track.language, label: track.label, role: track.role });
  }
  const { container = '', videoCodec = null, audioCodec = null } = source ?? {};
  return {
    source: { container, videoCodec, audioCodec, width, height, frameRate, duration: encode.duration },
    audioTracks: [...tracks.values()],
    captions: [],
    chapters: [],
  };
}

/** What an engine must know of the parent of a clip, apart from its key. */
export async function describeParent(
  db: Database,
  { parent, renditions }: PlannedClip,
): Promise<Omit<ClaimedClip['parent'], 'contentKey'>> {
  const { id: videoId, workspace_id: workspaceId, start_timestamp: startTimestamp } = parent;
  if (startTimestamp === null) throw new Error(`Video ${videoId} is not ready`);
  const poster = await findPoster(db, videoId);
  return {
    tracks: renditions.map(({ name, language, label, codecs, initialization, segmentBytes, places }) => ({
      name,
      language,
      label,
      codecs,
      ...inBase64(initialization),
      segmentBytes,
      firstSegment: 0,
      places: places.map(({ firstSegment, attempt, folder }) => ({
        firstSegment,
        prefix: outputPrefix({ workspaceId, videoId, attempt, folder }),
      })),
    })),
    startTimestamp,
    posterKey: poster === undefined ? null : imageKey({ workspaceId, videoId, ...poster }, 'poster.jpg'),
  };
}

/**
 * Bytes of the stored segments that a clip is made from: of all, and of those that its engine has on its disk. These are the audio, the key frames
 * for the storyboard, and of each video rendition the edges and the segment with the poster.
 */
export function bytesOf(
  { segments }: Pick<ClaimedClip['work'], 'segments'>,
  renditions: readonly ParentRendition[],
): { stored: number; onDisk: number } {
  const hasIFrames = renditions.some(({ name }) => name === I_FRAME_RENDITION);
  const keyFrames = hasIFrames ? I_FRAME_RENDITION : renditions[0]?.name;
  let [stored, onDisk] = [0, 0];
  for (const { name, segmentBytes } of renditions) {
    const { first, end } = segments[name] ?? { first: 0, end: 0 };
    const bytes = segmentBytes.slice(first, end);
    stored += sum(bytes);
    const isWhole = isAudioRendition(name) || name === keyFrames;
    onDisk += isWhole ? sum(bytes) : sum([bytes[0], bytes.at(-1), Math.max(0, ...bytes)]);
  }
  return { stored, onDisk };
}

function sum(bytes: readonly (number | undefined)[]): number {
  return bytes.reduce((total: number, each = 0) => total + each, 0);
}

/** Seconds of a clip that count as transcoded: those of its edges, although engines encode only a part of them. */
export function encodedSeconds({ plan, work }: Pick<PlannedClip, 'plan' | 'work'>): number {
  const { encode, segmentStarts } = plan;
  const rate = encode.frameRate.numerator / encode.frameRate.denominator;
  const [, second = encode.frames] = segmentStarts;
  const last = segmentStarts.at(-1) ?? 0;
  const frames = (work.head ? second : 0) + (work.tail ? encode.frames - last : 0);
  return frames / rate;
}
