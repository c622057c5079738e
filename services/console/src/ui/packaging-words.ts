import type { Video } from '@framelane/client';

/** The names of packagings. */
export const PACKAGINGS: Record<Video['packaging'], { short: string; long: string }> = {
  ts: { short: 'TS', long: 'MPEG-2 transport streams' },
  cmaf: { short: 'CMAF', long: 'CMAF (fragmented MP4)' },
};
