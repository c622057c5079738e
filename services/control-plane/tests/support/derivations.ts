import { type ClaimedDerivation, INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { downloadExtension } from '@framelane/contracts/outputs/download';
import type { DerivationCommand } from '@framelane/contracts/outputs/kinds';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { pictureFile } from '@framelane/contracts/outputs/picture';
import type { DerivationName, DerivationOf } from '@framelane/contracts/outputs/tasks';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { outputPrefix, taskFolder } from '@framelane/object-store/object-keys';
import { until } from '@framelane/test-kit/until';
import type { TestControlPlane } from './control-plane.ts';
import { tryOf } from './long-videos.ts';

/** A claimed derivation of one kind. */
export type Claimed<K extends DerivationName> = Omit<ClaimedDerivation, 'work'> & { work: DerivationOf<K> };

/** Requests a claim of a derivation of a video. */
export function tryClaimDerivation(
  plane: TestControlPlane,
  videoId: string,
  planVersion = PLAN_VERSION,
  command: DerivationCommand = 'derive',
) {
  return plane.engine.request(INTERNAL_PATHS.claimTask, { videoId, command, planVersion });
}

/** Claims the next download of a video. */
export async function claimDerivation(
  plane: TestControlPlane,
  videoId: string,
): Promise<Claimed<'download'>> {
  const { status, body } = await tryClaimDerivation(plane, videoId);
  if (status !== 200) throw new Error(`No derivation: ${JSON.stringify(body)}`);
  return body as Claimed<'download'>;
}

/** Claims the next picture of a video, as soon as there is one. */
export async function claimPicture(plane: TestControlPlane, videoId: string): Promise<Claimed<'picture'>> {
  let claimed: Claimed<'picture'> | undefined;
  await until(async () => {
    const { status, body } = await tryClaimDerivation(plane, videoId, PLAN_VERSION, 'picture');
    if (status === 200) claimed = body as Claimed<'picture'>;
    return claimed !== undefined;
  });
  return claimed as Claimed<'picture'>;
}

/** Claims the next transcript of a video. */
export async function claimTranscript(
  plane: TestControlPlane,
  videoId: string,
): Promise<Claimed<'transcript'>> {
  const { status, body } = await tryClaimDerivation(plane, videoId, PLAN_VERSION, 'transcribe');
  if (status !== 200) throw new Error(`No derivation: ${JSON.stringify(body)}`);
  return body as Claimed<'transcript'>;
}

/** Makes the next download of a video as an engine does: stores its file, and reports it. */
export async function makeDownload(
  plane: TestControlPlane,
  videoId: string,
  file: Buffer,
  workspaceId = plane.workspaceId,
): Promise<void> {
  const claimed = await claimDerivation(plane, videoId);
  const { name } = claimed.work;
  const stored = { name: `download.${downloadExtension(name)}`, file };
  await complete(plane, { workspaceId, videoId }, claimed, stored, {
    download: { name, bytes: file.length },
  });
}

/** Makes the next picture of a video, which a request waits for, in the same way. */
export async function makePicture(
  plane: TestControlPlane,
  videoId: string,
  file: Buffer,
  workspaceId = plane.workspaceId,
): Promise<Claimed<'picture'>> {
  const claimed = await claimPicture(plane, videoId);
  await completePicture(plane, videoId, claimed, file, workspaceId);
  return claimed;
}

/** Makes every picture that is asked for, as an idle engine does. */
export async function makePictures(plane: TestControlPlane): Promise<void> {
  await plane.bus.consume('engine.pictures', { prefetch: 1 }, async ({ data }) => {
    const { videoId, workspaceId } = data as { videoId: string; workspaceId: string };
    const { status, body } = await tryClaimDerivation(plane, videoId, PLAN_VERSION, 'picture');
    // Its video may be deleted.
    if (status !== 200) return;
    await completePicture(plane, videoId, body as Claimed<'picture'>, Buffer.alloc(1), workspaceId);
  });
}

/** Completes a picture that was claimed. */
export function completePicture(
  plane: TestControlPlane,
  videoId: string,
  claimed: Claimed<'picture'>,
  file: Buffer,
  workspaceId = plane.workspaceId,
): Promise<void> {
  const { name, format } = claimed.work;
  const stored = { name: pictureFile(format), file };
  const result = { picture: { name, bytes: file.length } };
  return complete(plane, { workspaceId, videoId }, claimed, stored, result);
}

async function complete(
  plane: TestControlPlane,
  { workspaceId, videoId }: { workspaceId: string; videoId: string },
  claimed: Pick<ClaimedDerivation, 'attempt' | 'task' | 'try'>,
  { name, file }: { name: string; file: Buffer },
  result: TaskResult,
): Promise<void> {
  const { attempt, task, try: number } = claimed;
  const output = { workspaceId, videoId, attempt, folder: taskFolder(task, number) };
  await plane.objects.put(`${outputPrefix(output)}${name}`, file, 'application/octet-stream');
  await plane.engine.report('task.completed', { ...tryOf(videoId, claimed as never), result });
}
