import type { UploadTicketRequest } from '@framelane/client';

/** The watermark of new videos, as tickets and imports have it. */
export type WatermarkRequest = NonNullable<UploadTicketRequest['watermark']>;

/** The input in the form. The image is its id, or empty; the numbers are percentages. */
export type WatermarkForm = {
  image: string;
  corner: NonNullable<WatermarkRequest['corner']>;
  width: string;
  opacity: string;
};

/** The form for a watermark, by default with the defaults of the API. */
export function watermarkForm(request?: WatermarkRequest): WatermarkForm {
  const { image = '', corner = 'top-right', width = 0.15, opacity = 1 } = request ?? {};
  return { image, corner, width: percent(width), opacity: percent(opacity) };
}

/** The request of the form; undefined without an image. */
export function watermarkRequest({
  image,
  corner,
  width,
  opacity,
}: WatermarkForm): WatermarkRequest | undefined {
  if (image === '') return undefined;
  return { image, corner, width: fraction(width), opacity: fraction(opacity) };
}

/** Whether a text is a percentage in a range. */
export function isPercentage(text: string, min: number): boolean {
  const number = Number(text);
  return text.trim() !== '' && number >= min && number <= 100;
}

/** The smallest width, in percent. */
export const MIN_WIDTH = 0.5;

function percent(value: number): string {
  return String(Number((100 * value).toFixed(2)));
}

function fraction(text: string): number {
  return Number((Number(text) / 100).toFixed(4));
}
