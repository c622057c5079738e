import type { WatermarkPlan } from '@framelane/contracts/watermark';
import type { Size } from '../source/media-source.ts';

/** Where a watermark is in a frame, in pixels. All numbers are even, because two pixels of 4:2:0 share their chroma. */
export type WatermarkPlace = Size & { x: number; y: number };

/** The place of a watermark in a frame. The image keeps its aspect ratio, and is made smaller if it does not fit between the margins. */
export function watermarkPlace(
  { corner, width, margin, image }: Pick<WatermarkPlan, 'corner' | 'width' | 'margin' | 'image'>,
  frame: Size,
): WatermarkPlace {
  const distance = evenBelow(margin * Math.min(frame.width, frame.height));
  const room = { width: frame.width - 2 * distance, height: frame.height - 2 * distance };
  const scale = Math.min(
    (width * frame.width) / image.width,
    room.width / image.width,
    room.height / image.height,
  );
  const shown = {
    width: evenSize(image.width * scale, room.width),
    height: evenSize(image.height * scale, room.height),
  };
  const isLeft = corner === 'top-left' || corner === 'bottom-left';
  const isTop = corner === 'top-left' || corner === 'top-right';
  return {
    ...shown,
    x: isLeft ? distance : frame.width - distance - shown.width,
    y: isTop ? distance : frame.height - distance - shown.height,
  };
}

function evenBelow(pixels: number): number {
  return 2 * Math.floor(pixels / 2);
}

function evenSize(pixels: number, max: number): number {
  return Math.min(max, Math.max(2, 2 * Math.round(pixels / 2)));
}
