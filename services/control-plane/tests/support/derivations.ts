import { type ClaimedDerivation, INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { CommandType } from '@framelane/contracts/messages';
import { downloadExtension } from '@framelane/contracts/outputs/download';
import type { DerivationName, DerivationOf } from '@framelane/contracts/outputs/tasks';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { outputPrefix, taskFolder } from '@framelane/object-store/object-keys';
import type { TestControlPlane } from './control-plane.ts';
import { tryOf } from './long-videos.ts';

/** A claimed derivation of one kind. */
type Claimed<K extends DerivationName> = ClaimedDerivation & { work: DerivationOf<K> };

/** Requests a claim of a derivation of a video. */
export function tryClaimDerivation(
  plane: TestControlPlane,
  videoId: string,
  { planVersion = PLAN_VERSION, command = 'derive' }: { planVersion?: number; command?: CommandType } = {},
) {
  return plane.engine.request(INTERNAL_PATHS.claimTask, { videoId, command, planVersion });
}

/** Claims the next download of a video. */
export function claimDerivation(plane: TestControlPlane, videoId: string): Promise<Claimed<'download'>> {
  return claim(plane, videoId, 'derive');
}

/** Claims the next transcript of a video. */
export function claimTranscript(plane: TestControlPlane, videoId: string): Promise<Claimed<'transcript'>> {
  return claim(plane, videoId, 'transcribe');
}

async function claim<K extends DerivationName>(
  plane: TestControlPlane,
  videoId: string,
  command: CommandType,
): Promise<Claimed<K>> {
  const { status, body } = await tryClaimDerivation(plane, videoId, { command });
  if (status !== 200) throw new Error(`No derivation: ${JSON.stringify(body)}`);
  return body as Claimed<K>;
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
  const { attempt, task, try: number } = claimed;
  const output = { workspaceId, videoId, attempt, folder: taskFolder(task, number) };
  const key = `${outputPrefix(output)}download.${downloadExtension(name)}`;
  await plane.objects.put(key, file, 'video/mp4');
  const result = { download: { name, bytes: file.length } };
  await plane.engine.report('task.completed', { ...tryOf(videoId, claimed), result });
}
