import type { Video } from '@framelane/client';

type Watermark = NonNullable<Video['watermark']>;

/** The names of corners. */
export const CORNERS: Record<Watermark['corner'], string> = {
  'top-left': 'Top left',
  'top-right': 'Top right',
  'bottom-left': 'Bottom left',
  'bottom-right': 'Bottom right',
};

/** Where and how a watermark is shown. */
export function watermarkWords({ corner, opacity, width }: Omit<Watermark, 'image' | 'margin'>): string {
  return `${CORNERS[corner]}, ${percent(width)} of the width, ${percent(opacity)} opaque`;
}

function percent(fraction: number): string {
  return `${Number((100 * fraction).toFixed(1))} %`;
}
