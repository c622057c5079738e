import type { ClaimedTask } from '@framelane/contracts/internal-api';
import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Task } from '@framelane/contracts/outputs/tasks';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import { type AlternativeCodec, videoRendition } from '@framelane/contracts/renditions';
import type { TranscodePlan } from '@framelane/contracts/transcode-plan';
import { initializationOf, samplePlan } from './plan.ts';

/** What engines report of each codec. */
export const CODECS = { av1: 'av01.0.01M.08', hevc: 'hvc1.1.6.L63.90' } as const;

/** The plan of the sample in H.264, and then in these codecs, in as many pieces. */
export function planWithCodecs(codecs: readonly AlternativeCodec[]): TranscodePlan {
  const plan = samplePlan('cmaf');
  return {
    ...plan,
    alternatives: codecs.map((codec) => ({
      codec,
      videoRenditions: plan.encode.videoRenditions.map((each) => ({
        ...each,
        name: videoRendition('360p', codec),
      })),
    })),
    optionalTasks: codecs.flatMap((codec) => plan.tasks.flatMap((task) => codecPiece(task, codec))),
  };
}

function codecPiece(task: Task, codec: AlternativeCodec): Task[] {
  if (task.kind !== 'piece') return [];
  const { firstIFrame: _, iFrames: __, ...piece } = task;
  return [{ ...piece, kind: 'codec_piece', codec }];
}

/** The result that an engine reports for a piece or a copy of a codec. Segment n has 500 + n bytes. */
export function resultOfPiece({ work, plan }: Pick<ClaimedTask, 'work' | 'plan'>): TaskResult {
  if (!('codec' in work)) throw new Error(`Not a part of a codec: ${work.kind}`);
  const name = videoRendition('360p', work.codec);
  const rate = plan.encode.frameRate.numerator / plan.encode.frameRate.denominator;
  return {
    renditions: [
      {
        name,
        codecs: CODECS[work.codec],
        ...initializationOf(name, 'cmaf'),
        first: work.firstSegment,
        segments: work.segmentStarts.map((start, at) => ({
          start: PACKAGINGS.cmaf.startTimestamp / CLOCK_HZ + start / rate,
          bytes: 500 + work.firstSegment + at,
        })),
      },
    ],
  };
}
