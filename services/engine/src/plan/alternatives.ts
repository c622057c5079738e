import type { HdrChoice } from '@framelane/contracts/hdr';
import {
  type AlternativeCodec,
  partsOf,
  type VideoCodec,
  videoRendition,
} from '@framelane/contracts/renditions';
import {
  type AlternativeLadder,
  isSoundAlone,
  type TenBit,
  type VideoRenditionPlan,
} from '@framelane/contracts/transcode-plan';
import { encoderOfCodec } from '../encoders/encoders.ts';
import type { TranscodeSettings } from '../transcode-settings.ts';
import { yuvMatrix } from './colour.ts';
import type { ExplainedPlan } from './explained-plan.ts';
import { hasHighBitDepth } from './input-issues.ts';

/**
 * The ladders in other codecs, beside that of the plan: the same renditions, with the bit rates that the codecs need. Sound alone has none, and codecs
 * whose encoder needs larger frames are left out.
 */
export function planAlternatives(
  codecs: readonly AlternativeCodec[],
  plan: Pick<ExplainedPlan, 'videoRenditions' | 'dynamicRange' | 'tagged' | 'watermark'>,
  { pixelFormat, ...settings }: TenBitSettings & { pixelFormat: string | null },
): AlternativeLadder[] {
  if (isSoundAlone(plan)) return [];
  const tenBit = pixelFormat === null ? undefined : tenBitOf(pixelFormat, plan, settings);
  return fittingCodecs(codecs, plan.videoRenditions).map((codec) => ({
    codec,
    videoRenditions: inCodec(codec, plan.videoRenditions),
    ...(tenBit && { tenBit }),
  }));
}

/** The same renditions in another codec. */
export function inCodec(codec: VideoCodec, renditions: readonly VideoRenditionPlan[]): VideoRenditionPlan[] {
  const { rateFactor } = encoderOfCodec(codec);
  return renditions.map((rendition) => ({
    ...rendition,
    name: videoRendition(partsOf(rendition.name).rung, codec),
    maxRate: Math.round(rendition.maxRate * rateFactor),
  }));
}

/** The codecs whose encoder can make all renditions. */
export function fittingCodecs(
  codecs: readonly AlternativeCodec[],
  renditions: readonly VideoRenditionPlan[],
): AlternativeCodec[] {
  return codecs.filter((codec) => fits(codec, renditions));
}

function fits(codec: AlternativeCodec, renditions: readonly VideoRenditionPlan[]): boolean {
  const { smallest = { width: 0, height: 0 } } = encoderOfCodec(codec);
  return renditions.every(({ width, height }) => width >= smallest.width && height >= smallest.height);
}

type TenBitSettings = Pick<TranscodeSettings, 'tenBit'> & { hdr: HdrChoice };

/** A watermark is an image in 8 bits and standard range, so the renditions are, too. */
function tenBitOf(
  pixelFormat: string,
  { dynamicRange, tagged, watermark }: Parameters<typeof planAlternatives>[1],
  { tenBit, hdr }: TenBitSettings,
): TenBit | undefined {
  if (watermark) return undefined;
  const isBt2020 = yuvMatrix(tagged) === 'bt2020nc' && tagged.colorPrimaries === 'bt2020';
  if (dynamicRange !== 'sdr') return hdr === 'keep' && isBt2020 ? { range: dynamicRange } : undefined;
  return tenBit && hasHighBitDepth(pixelFormat) ? { range: 'sdr' } : undefined;
}
