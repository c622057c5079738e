import type { ImportRequest } from '@framelane/client';
import { linesOf } from '../ui/lines.ts';
import { ofSound, type PackagingRequest, withWatermark } from './packaging-request.ts';
import type { TrimRequest } from './trim-request.ts';
import type { WatermarkRequest } from './watermark-request.ts';

/** The input in the form for an import. */
export type ImportForm = {
  url: string;
  title: string;
  headers: string;
  audioOnly: boolean;
  trim?: TrimRequest | undefined;
  /** That of the next uploads; sound alone has none. */
  watermark?: WatermarkRequest | undefined;
  /** That of the next uploads; sound alone has no codecs. */
  packaging?: PackagingRequest | undefined;
};

/** A line of the headers that is not `Name: value`; undefined if all are. */
export function wrongHeaderLine(headers: string): string | undefined {
  return linesOf(headers).find((line) => !/^[^:\s]+\s*:/.test(line));
}

/** The request of the form. Headers are lines of `Name: value`; empty fields are left out. */
export function importRequest({
  url,
  title,
  headers,
  audioOnly,
  trim,
  watermark,
  packaging,
}: ImportForm): ImportRequest {
  const entries = linesOf(headers).map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return {
    url: url.trim(),
    ...(title.trim() !== '' && { title: title.trim() }),
    ...(trim && { trim }),
    ...kindOf({ audioOnly, watermark, packaging }),
    ...(entries.length > 0 && { headers: Object.fromEntries(entries) }),
  };
}

/** The fields of sound alone, of a video with a watermark, or of another video. */
function kindOf({
  audioOnly,
  watermark,
  packaging = {},
}: Pick<ImportForm, 'audioOnly' | 'watermark' | 'packaging'>): Partial<ImportRequest> {
  if (audioOnly) return { ...ofSound(packaging), audioOnly };
  return watermark ? { ...withWatermark(packaging), watermark } : packaging;
}
