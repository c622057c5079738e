import { type ClaimTaskResponse, INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { StartedRenditions } from '@framelane/contracts/outputs/renditions';
import { PACKAGINGS, type PackagingName } from '@framelane/contracts/packaging';
import { PLAN_VERSION } from '@framelane/contracts/transcode-plan';
import { segmentKey, taskFolder } from '@framelane/object-store/object-keys';
import type { TestControlPlane } from './control-plane.ts';
import { resultOf, samplePlan } from './plan.ts';

/** A try of a task. */
export type Claimed = Pick<ClaimTaskResponse, 'attempt' | 'task' | 'try'>;

/** The renditions that engines report when they have stored the first segments of `samplePlan`. */
export const STARTED = {
  audio: { audio: { codecs: 'mp4a.40.2' } },
  piece: { '360p': { codecs: 'avc1.64001e' } },
} as const;

/** Long videos of a control plane, and the engines that transcode them. */
export class LongVideos {
  readonly #plane: TestControlPlane;

  constructor(plane: TestControlPlane) {
    this.#plane = plane;
  }

  /** A video in its first attempt, whose tasks for audio, images and the first piece are running. */
  async planned(playbackPolicy: 'public' | 'signed' = 'public', packaging: PackagingName = 'ts') {
    const { engine } = this.#plane;
    const { videoId, uploadToken } = await this.#plane.ticket({
      filename: 'long.mkv',
      playbackPolicy,
      packaging,
    });
    await engine.upload(uploadToken);
    await engine.claim(videoId);
    await engine.storePlan(videoId, 1, samplePlan(packaging));
    const [audio, , piece] = await this.claim(videoId, 3);
    return { videoId, audio: audio as Claimed, piece: piece as Claimed };
  }

  /** The same, but viewers can play it. */
  async previewed(playbackPolicy?: 'public' | 'signed') {
    const made = await this.planned(playbackPolicy);
    await this.progress(made.videoId, made.audio, 0.1, STARTED.audio);
    // The control plane divides this progress by the time since the claim, which is short. So encoding seems much faster than playback.
    await this.progress(made.videoId, made.piece, 0.9, STARTED.piece);
    return made;
  }

  async claim(videoId: string, count: number): Promise<Claimed[]> {
    const claimed: Claimed[] = [];
    for (let at = 0; at < count; at += 1) {
      const { body } = await this.#plane.engine.request(INTERNAL_PATHS.claimTask, {
        videoId,
        command: 'task',
        planVersion: PLAN_VERSION,
      });
      claimed.push(body as Claimed);
    }
    return claimed;
  }

  progress(
    videoId: string,
    claimed: Claimed,
    fraction: number,
    startedRenditions: StartedRenditions,
  ): Promise<void> {
    return this.#plane.engine.report('task.progress', {
      ...tryOf(videoId, claimed),
      fraction,
      startedRenditions,
    });
  }

  async complete(videoId: string, tasks: readonly Claimed[], packaging: PackagingName = 'ts'): Promise<void> {
    for (const claimed of tasks) {
      const result = resultOf(claimed.task, packaging);
      await this.#plane.engine.report('task.completed', { ...tryOf(videoId, claimed), result });
    }
  }

  /** Stores a segment as the output of a try. */
  store(
    videoId: string,
    claimed: Claimed,
    {
      rendition,
      sequence,
      bytes,
      packaging = 'ts',
    }: { rendition: string; sequence: number; bytes: Buffer; packaging?: PackagingName },
  ) {
    const { objects, workspaceId } = this.#plane;
    const folder = taskFolder(claimed.task, claimed.try);
    const output = { workspaceId, videoId, attempt: claimed.attempt, folder };
    return objects.put(
      segmentKey(output, rendition, sequence, packaging),
      bytes,
      PACKAGINGS[packaging].contentType,
    );
  }
}

/** A try as messages have it. */
export function tryOf(videoId: string, { attempt, task, try: tryNumber }: Claimed) {
  return { videoId, attempt, task, try: tryNumber };
}
