import { z } from 'zod';

/** Corners of a video in which a watermark can be. */
export const WATERMARK_CORNERS = ['top-left', 'top-right', 'bottom-left', 'bottom-right'] as const;

/** The formats of watermark images. */
export const WATERMARK_FORMATS = ['png', 'jpeg'] as const;
export type WatermarkFormat = (typeof WATERMARK_FORMATS)[number];

/** The largest margin. Two of them leave half of the shorter side of the video to the image. */
export const MAX_WATERMARK_MARGIN = 0.25;

/** Where and how a watermark is shown. */
const watermark = z.object({
  format: z.enum(WATERMARK_FORMATS),
  corner: z.enum(WATERMARK_CORNERS),
  /** Multiplied with the alpha of the image. */
  opacity: z.number().min(0).max(1),
  /** The width of the image, as a fraction of the width of the video. It is smaller if the image would not fit. */
  width: z.number().positive().max(1),
  /** The distance from both edges, as a fraction of the shorter side of the video. */
  margin: z.number().min(0).max(MAX_WATERMARK_MARGIN),
});

/** A watermark as an engine gets it with a claim. */
export const claimedWatermark = watermark.extend({
  /** The bytes of the image, in base64. */
  image: z.base64(),
});
export type ClaimedWatermark = z.infer<typeof claimedWatermark>;

/** A watermark in a plan. */
export const watermarkPlan = watermark.extend({
  /** The size of the decoded image in pixels. */
  image: z.object({ width: z.int().positive(), height: z.int().positive() }),
});
export type WatermarkPlan = z.infer<typeof watermarkPlan>;
