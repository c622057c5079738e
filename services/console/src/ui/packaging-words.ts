import type { Schemas, Video } from '@framelane/client';

type Codec = Schemas['VideoCodec'];

/** The names of packagings. */
export const PACKAGINGS: Record<Video['packaging'], { short: string; long: string }> = {
  ts: { short: 'TS', long: 'MPEG-2 transport streams' },
  cmaf: { short: 'CMAF', long: 'CMAF (fragmented MP4)' },
};

export const PACKAGING_NAMES = Object.keys(PACKAGINGS) as Video['packaging'][];

/** What becomes of high dynamic range in AV1 and HEVC. */
export const HDR_CHOICES: Record<Video['hdr'], { short: string; long: string }> = {
  sdr: { short: 'SDR', long: 'Map to standard dynamic range' },
  keep: { short: 'HDR', long: 'Keep in AV1 and HEVC' },
};

export const HDR_NAMES = Object.keys(HDR_CHOICES) as Video['hdr'][];

const CODECS: Record<Codec, string> = { h264: 'H.264', av1: 'AV1', hevc: 'HEVC' };

/** Codecs, e.g. `H.264, AV1`. */
export function codecNames(codecs: readonly Codec[]): string {
  return codecs.map((codec) => CODECS[codec]).join(', ');
}

/** A codec of a video, with its state unless it is ready. */
export function codecWords({ codec, status, error }: Schemas['CodecState']): string {
  if (error !== null) return `${CODECS[codec]}: failed. ${error.message}`;
  return status === 'ready' ? CODECS[codec] : `${CODECS[codec]}: being prepared`;
}
