import type { UploadTicketRequest } from '@framelane/client';
import { codecNames, PACKAGING_NAMES, PACKAGINGS } from '../ui/packaging-words.ts';

/** The packaging and the codecs of new videos, as tickets and imports have them. Without one of them, that of the installation applies. */
export type PackagingRequest = Pick<UploadTicketRequest, 'packaging' | 'codecs'>;

export type Codecs = NonNullable<PackagingRequest['codecs']>;

/** The choices of codecs: H.264 is always one of them. */
export const CODEC_CHOICES: readonly Codecs[] = [
  ['h264'],
  ['h264', 'av1'],
  ['h264', 'hevc'],
  ['h264', 'av1', 'hevc'],
];

/** A request with the packaging of this name; with any other text, that of the installation. */
export function withPackaging({ codecs }: PackagingRequest, name: string): PackagingRequest {
  const packaging = PACKAGING_NAMES.find((each) => each === name);
  return { ...(packaging && { packaging }), ...(codecs && { codecs }) };
}

/** A request with one of the choices, such as `h264,av1`; with any other text, with the codecs of the installation. Transport streams can only carry H.264. */
export function withCodecs({ packaging }: PackagingRequest, choice: string): PackagingRequest {
  const codecs = CODEC_CHOICES.find((each) => each.join() === choice);
  const chosen = needsCmaf(codecs) ? 'cmaf' : packaging;
  return { ...(chosen && { packaging: chosen }), ...(codecs && { codecs }) };
}

/** Whether only CMAF can carry the codecs. */
export function needsCmaf(codecs: Codecs = []): boolean {
  return codecs.length > 1;
}

/** A request in a few words, e.g. `CMAF, H.264, AV1`. */
export function packagingWords({ packaging, codecs }: PackagingRequest): string {
  const words = [packaging && PACKAGINGS[packaging].short, codecs && codecNames(codecs)];
  return words.filter(Boolean).join(', ') || 'default';
}

/** The part of a request that sound alone can have. */
export function ofSound({ packaging }: PackagingRequest): PackagingRequest {
  return packaging === undefined ? {} : { packaging };
}
