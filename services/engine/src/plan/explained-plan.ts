import type { PackagingName } from '@framelane/contracts/packaging';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import type { Cuts } from '@framelane/contracts/segment-times';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import type { Trim } from '@framelane/contracts/trim';
import type { WatermarkPlan } from '@framelane/contracts/watermark';
import type { MaxRates } from './ladder.ts';
import type { Obstacle } from './stream-copy.ts';

/** How encoded media is cut (HLS authoring specification 7.5). */
export const ENCODED_CUTS: Cuts = { startsShort: true, segmentSeconds: 6 };

/** A plan, and for the log, why each track is encoded: null with a stream copy, `failed` after a stream copy has failed. */
export type ExplainedPlan = EncodePlan & {
  obstacles: { video: Obstacle | 'failed' | null; audio: readonly (Obstacle | 'failed' | null)[] };
};

/** The settings that a plan depends on. */
export type PlanSettings = {
  /** The codecs that the video has beside H.264. */
  codecs: readonly AlternativeCodec[];
  packaging: PackagingName;
  /** The bit rates of the ladder. */
  maxRates: MaxRates;
  /** Whether tracks with 5.1 get a rendition in 5.1. */
  surround: boolean;
  /** What the owner of the video wants all renditions to show. */
  watermark?: WatermarkPlan | undefined;
  /** The part of the source that the owner of the video wants. */
  trim?: Trim | undefined;
};
