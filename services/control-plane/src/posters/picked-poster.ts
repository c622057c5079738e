import { POSTER_PICTURE } from '@framelane/contracts/outputs/picture';
import { invalidField } from '@framelane/service-kit/problem';
import { removeArtifact } from '../artifacts/artifacts.service.ts';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import { posterWork } from '../outputs/pictures.ts';
import { beginDerivations, endDerivations } from '../tasks/derivations.ts';
import type { VideoLifecycle } from '../videos/video-lifecycle.ts';

type Deps = { lifecycle: VideoLifecycle };

/**
 * Lets an engine make the frame at a second the poster of a locked video, now or when it becomes ready; null sets the frame that the engine has chosen.
 * The caller stores the time. Throws 400 `validation_failed` if a ready video has no such frame.
 */
export async function pickPoster(
  trx: Database,
  video: VideoRow,
  time: number | null,
  { lifecycle }: Deps,
): Promise<void> {
  await endDerivations(trx, video, { kind: 'picture', name: POSTER_PICTURE });
  await lifecycle.requestPurge(trx, video.id);
  if (time === null) await removeArtifact(trx, video.id, { kind: 'picked_poster' });
  else if (video.status === 'ready') {
    const work = await posterWork(trx, video, time);
    if (work === undefined) throw noSuchFrame(video);
    await beginDerivations(trx, video, [work]);
  }
}

function noSuchFrame({ variants, duration }: VideoRow): Error {
  if (variants?.length === 0) {
    return invalidField('body/posterTime', 'posterTime', 'cannot be set: sound alone has no frames');
  }
  const message = `must be less than the duration of the video, ${duration} seconds`;
  return invalidField('body/posterTime', 'exclusiveMaximum', message);
}
