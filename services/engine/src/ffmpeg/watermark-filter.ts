import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { watermarkPlace } from '../plan/watermark-place.ts';
import type { Size } from '../source/media-source.ts';

/**
 * A filter chain whose frames show the watermark of the plan, which is the second input of the run; without a watermark, the chain as it is. The last
 * filter of the result has one output without a label.
 *
 * The image is drawn after all conversions, so it is not tone mapped. It is scaled with premultiplied alpha, because the colours of transparent
 * pixels would show at its edges otherwise. Its one frame is used for all frames of the video.
 *
 * @param chain ends with frames in 8-bit 4:2:0 and BT.709
 */
export function watermarked(chain: string, size: Size, { watermark, frameRate }: EncodePlan): string {
  if (watermark === undefined) return chain;
  const { x, y, width, height } = watermarkPlace(watermark, size);
  const image = [
    `format=rgba,colorchannelmixer=aa=${watermark.opacity.toFixed(6)}`,
    `format=gbrap,premultiply=inplace=1,scale=${width}:${height},unpremultiply=inplace=1`,
    'scale=out_color_matrix=bt709:out_range=tv,format=yuva420p,setsar=1',
    // `overlay` would round the times of the frames if the time bases were different.
    `settb=${frameRate.denominator}/${frameRate.numerator},setpts=0`,
  ].join(',');
  return [
    `[1:0]${image}[watermark]`,
    `${chain}[unmarked]`,
    `[unmarked][watermark]overlay=x=${x}:y=${y}:format=yuv420,format=yuv420p`,
  ].join(';');
}
