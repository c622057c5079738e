import type { Video } from '@framelane/client';
import type { CSSProperties } from 'react';

/** A player has the aspect ratio of the video as soon as that is known. */
export function shapeOf({ width, height }: Pick<Video, 'width' | 'height'>): CSSProperties | undefined {
  return width === null || height === null
    ? undefined
    : ({ '--aspect-ratio': width / height } as CSSProperties);
}
