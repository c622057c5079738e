/**
 * What becomes of high dynamic range (PQ and HLG) in the codecs beside H.264, the default first: mapped to standard range, or kept. H.264 always has
 * standard range.
 */
export const HDR_CHOICES = ['sdr', 'keep'] as const;
export type HdrChoice = (typeof HDR_CHOICES)[number];
