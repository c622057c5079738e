/** The values of a sequence parameter set, or of a sequence header of AV1, that the rules use. */
export type SequenceParameters = {
  /** Its names in CODECS (RFC 6381), the usual one first. */
  names: [string, ...string[]];
  /** Displayed pixels, after cropping. */
  width: number;
  height: number;
  colours: ColourTags;
};

/** How to convert samples to light, by the code points of ITU-T H.273. 2 is unspecified. */
export type ColourTags = {
  primaries: number;
  transfer: number;
  matrix: number;
  /** Whether samples use the full range of values. */
  fullRange: boolean;
};

/** The transfer functions of HDR. */
const TRANSFER = { pq: 16, hlg: 18 } as const;

/** The dynamic range of a transfer function, as VIDEO-RANGE names it (draft-pantos-hls-rfc8216bis §4.4.6.2). */
export function rangeOf({ transfer }: Pick<ColourTags, 'transfer'>): 'SDR' | 'PQ' | 'HLG' {
  if (transfer === TRANSFER.pq) return 'PQ';
  return transfer === TRANSFER.hlg ? 'HLG' : 'SDR';
}

export const UNTAGGED: ColourTags = { primaries: 2, transfer: 2, matrix: 2, fullRange: false };

/** The first slice or frame header of a frame: whether decoding can begin there, and its kind, for people. */
export type FrameStart = { isKey: boolean; kind: string };

/** How a codec writes its frames as units: NAL units, or OBUs of AV1. Its functions throw if a unit is truncated. */
export type VideoSyntax = {
  name: 'H.264' | 'HEVC' | 'AV1';
  /** What a decoder needs before the first frame: the types of the units and their names. */
  parameterSets: ReadonlyMap<number, string>;
  /** The parameter set that `readSequence` reads. */
  sequenceType: number;
  /** The unit that begins an access unit. */
  delimiterType: number;
  /** Whether parameter sets in the sample entry suffice. AV1 has its sequence header in key frames, too. */
  setsAreInEntry: boolean;
  typeOf(unit: Buffer): number;
  /** Whether a unit says something that neither a decoder nor a screen needs. False if such units are not looked for. */
  isMessage(unit: Buffer): boolean;
  /** Null if a unit does not begin a frame. */
  frameOf(unit: Buffer): FrameStart | null;
  readSequence(unit: Buffer): SequenceParameters;
};
