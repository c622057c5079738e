/** Types of NAL units of H.264 (ISO/IEC 14496-10 table 7-1). Slices include slice data partitions. */
export const SLICES: readonly number[] = [1, 2, 3, 4, 5];
export const IDR_SLICE = 5;
export const SEQUENCE_PARAMETER_SET = 7;
export const PICTURE_PARAMETER_SET = 8;
