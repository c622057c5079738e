import type { UploadTicketRequest } from '@framelane/client';
import { codecNames, HDR_CHOICES, HDR_NAMES, PACKAGING_NAMES, PACKAGINGS } from '../ui/packaging-words.ts';

/**
 * The packaging and the codecs of new videos, and what becomes of high dynamic range, as tickets and imports have them. Without one of them, that of the
 * installation applies.
 */
export type PackagingRequest = Pick<UploadTicketRequest, 'packaging' | 'codecs' | 'hdr'>;

export type Codecs = NonNullable<PackagingRequest['codecs']>;

/** The choices of codecs: H.264 is always one of them. */
export const CODEC_CHOICES: readonly Codecs[] = [
  ['h264'],
  ['h264', 'av1'],
  ['h264', 'hevc'],
  ['h264', 'av1', 'hevc'],
];

/** A request with the packaging of this name; with any other text, that of the installation. */
export function withPackaging({ packaging: _, ...others }: PackagingRequest, name: string): PackagingRequest {
  const packaging = PACKAGING_NAMES.find((each) => each === name);
  return { ...(packaging && { packaging }), ...others };
}

/**
 * A request with one of the choices, such as `h264,av1`; with any other text, with the codecs of the installation. Transport streams can only carry H.264,
 * and high dynamic range is chosen for further codecs only.
 */
export function withCodecs({ packaging, hdr }: PackagingRequest, choice: string): PackagingRequest {
  const codecs = CODEC_CHOICES.find((each) => each.join() === choice);
  const isFurther = hasFurther(codecs);
  const chosen = isFurther ? 'cmaf' : packaging;
  return {
    ...(chosen && { packaging: chosen }),
    ...(codecs && { codecs }),
    ...(isFurther && hdr && { hdr }),
  };
}

/** A request with one of the choices of high dynamic range; with any other text, that of the installation. */
export function withHdr({ hdr: _, ...others }: PackagingRequest, choice: string): PackagingRequest {
  const hdr = HDR_NAMES.find((each) => each === choice);
  return { ...others, ...(hdr && { hdr }) };
}

/** Whether the request names codecs beside H.264. Only CMAF can carry them, and only they can keep high dynamic range. */
export function hasFurther(codecs: Codecs = []): boolean {
  return codecs.length > 1;
}

/** A request in a few words, e.g. `CMAF, H.264, AV1`. */
export function packagingWords({ packaging, codecs, hdr }: PackagingRequest): string {
  const words = [
    packaging && PACKAGINGS[packaging].short,
    codecs && codecNames(codecs),
    hdr && HDR_CHOICES[hdr].short,
  ];
  return words.filter(Boolean).join(', ') || 'default';
}

/** The part of a request that a video with a watermark can have: the watermark has standard dynamic range. */
export function withWatermark({ hdr: _, ...request }: PackagingRequest): PackagingRequest {
  return request;
}

/** The part of a request that sound alone can have. */
export function ofSound({ packaging }: PackagingRequest): PackagingRequest {
  return packaging === undefined ? {} : { packaging };
}
