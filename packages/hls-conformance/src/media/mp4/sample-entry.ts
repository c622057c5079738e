import type { AacConfig } from '../adts.ts';
import { AV1, av1Name, obusIn, readAv1Configuration, readAv1Profile } from '../av1.ts';
import { BitReader } from '../bit-reader.ts';
import { H264 } from '../h264.ts';
import { hevcName, hevcSyntax, PROFILE_BYTES } from '../hevc.ts';
import { lengthPrefixed } from '../nal-units.ts';
import type { VideoSyntax } from '../video-syntax.ts';
import { boxesIn, fullBox, requiredBody } from './boxes.ts';

/** How the samples of a track are coded. */
export type SampleEntry =
  | {
      kind: 'video';
      /** The type of the entry, e.g. `avc1`. */
      type: string;
      syntax: VideoSyntax;
      /** The parameter sets. */
      units: Buffer[];
      /** The units of a sample. Throws if one is truncated. */
      split(sample: Buffer): Buffer[];
      /** How its configuration contradicts its parameter sets. */
      violations: string[];
    }
  | { kind: 'aac'; config: AacConfig }
  /** It is not read. */
  | { kind: 'other'; type: string };

/** The fields of sample entries before their boxes (ISO/IEC 14496-12 §12.1.3, §12.2.3). */
const VIDEO_ENTRY_BYTES = 78;
const AUDIO_ENTRY_BYTES = 28;

/** Reads the first sample entry of a sample description box. Throws if it is malformed. */
export function readSampleEntry(stsd: Buffer): SampleEntry {
  const [entry] = boxesIn(fullBox(stsd).rest.subarray(4));
  if (entry === undefined) throw new Error('there is no sample entry');
  const { type, body } = entry;
  const configuration = (box: string) => requiredBody(boxesIn(body.subarray(VIDEO_ENTRY_BYTES)), box);
  // `avc3` and `hev1` have their parameter sets in samples, but may have some in their entry.
  if (type === 'avc1' || type === 'avc3') return readAvc(type, configuration('avcC'));
  if (type === 'hvc1' || type === 'hev1') return readHevc(type, configuration('hvcC'));
  if (type === 'av01') return readAv1(configuration('av1C'));
  if (type !== 'mp4a') return { kind: 'other', type };
  const config = readElementaryStream(requiredBody(boxesIn(body.subarray(AUDIO_ENTRY_BYTES)), 'esds'));
  return config === null ? { kind: 'other', type } : { kind: 'aac', config };
}

/** ISO/IEC 14496-15 §5.3.3.1. */
function readAvc(type: string, avcC: Buffer): SampleEntry {
  const lengthBytes = (avcC.readUInt8(4) & 0x03) + 1;
  const units: Buffer[] = [];
  let at = 5;
  for (const mask of [0x1f, 0xff]) {
    const count = avcC.readUInt8(at) & mask;
    at += 1;
    for (let set = 0; set < count; set += 1) {
      const unit = unitAt(avcC, at);
      units.push(unit);
      at += 2 + unit.length;
    }
  }
  return {
    kind: 'video',
    type,
    syntax: H264,
    units,
    split: (sample) => lengthPrefixed(sample, lengthBytes),
    violations: [],
  };
}

/** Where hvcC has the size of the lengths, and its arrays of NAL units (§8.3.3.1.2). */
const HVCC = { lengths: 21, arrays: 22 } as const;

function readHevc(type: 'hvc1' | 'hev1', hvcC: Buffer): SampleEntry {
  const lengthBytes = (hvcC.readUInt8(HVCC.lengths) & 0x03) + 1;
  const units: Buffer[] = [];
  let at = HVCC.arrays + 1;
  for (let array = hvcC.readUInt8(HVCC.arrays); array > 0; array -= 1) {
    const count = hvcC.readUInt16BE(at + 1);
    at += 3;
    for (let set = 0; set < count; set += 1) {
      const unit = unitAt(hvcC, at);
      units.push(unit);
      at += 2 + unit.length;
    }
  }
  const syntax = hevcSyntax(type);
  const stated = hevcName(type, hvcC.subarray(1, 1 + PROFILE_BYTES));
  const [coded] = sequencesOf(syntax, units, (unit) => syntax.readSequence(unit).names[0]);
  return {
    kind: 'video',
    type,
    syntax,
    units,
    split: (sample) => lengthPrefixed(sample, lengthBytes),
    violations: contradictions('hvcC', stated, coded),
  };
}

function readAv1(av1C: Buffer): SampleEntry {
  const { stated, units } = readAv1Configuration(av1C);
  const [coded] = sequencesOf(AV1, units, (unit) => av1Name(readAv1Profile(unit)));
  return {
    kind: 'video',
    type: 'av01',
    syntax: AV1,
    units,
    split: obusIn,
    violations: contradictions('av1C', av1Name(stated), coded),
  };
}

/** What is read of the sequence parameter sets among some units. Those that cannot be read are found elsewhere. */
function sequencesOf<T>(
  { typeOf, sequenceType }: VideoSyntax,
  units: readonly Buffer[],
  read: (unit: Buffer) => T,
): T[] {
  return units
    .filter((unit) => typeOf(unit) === sequenceType)
    .flatMap((unit) => {
      try {
        return [read(unit)];
      } catch {
        return [];
      }
    });
}

function contradictions(box: string, stated: string, coded: string | undefined): string[] {
  return coded === undefined || coded === stated
    ? []
    : [`its ${box} says ${stated}, its parameter sets say ${coded}`];
}

/** A parameter set after its length in 16 bits. Throws if it is truncated. */
function unitAt(record: Buffer, at: number): Buffer {
  const length = record.readUInt16BE(at);
  if (length === 0 || at + 2 + length > record.length) throw new Error('a parameter set is truncated');
  return record.subarray(at + 2, at + 2 + length);
}

/** Tags of descriptors (ISO/IEC 14496-1 §7.2.2.1). */
const DESCRIPTOR = { elementaryStream: 3, decoderConfig: 4, decoderSpecific: 5 } as const;
/** MPEG-4 audio (ISO/IEC 14496-1 table 5). */
const MPEG4_AUDIO = 0x40;

/** Null if it is not MPEG-4 audio. */
function readElementaryStream(esds: Buffer): AacConfig | null {
  const stream = descriptor(fullBox(esds).rest, DESCRIPTOR.elementaryStream);
  const flags = stream.readUInt8(2);
  const optional = [
    [0x80, 2],
    [0x40, 1 + ((flags & 0x40) === 0 ? 0 : stream.readUInt8(3 + ((flags & 0x80) === 0 ? 0 : 2)))],
    [0x20, 2],
  ] as const;
  const begin = 3 + optional.reduce((sum, [flag, bytes]) => sum + ((flags & flag) === 0 ? 0 : bytes), 0);
  const config = descriptor(stream.subarray(begin), DESCRIPTOR.decoderConfig);
  if (config.readUInt8(0) !== MPEG4_AUDIO) return null;
  return readAudioSpecificConfig(descriptor(config.subarray(13), DESCRIPTOR.decoderSpecific));
}

/** The body of a descriptor at the beginning of some bytes. Its length has 7 bits in each byte. */
function descriptor(bytes: Buffer, tag: number): Buffer {
  if (bytes.readUInt8(0) !== tag) throw new Error(`there is no descriptor ${tag}`);
  let [length, at] = [0, 1];
  for (let more = true; more && at <= 4; at += 1) {
    const byte = bytes.readUInt8(at);
    length = length * 128 + (byte & 0x7f);
    more = (byte & 0x80) !== 0;
  }
  return bytes.subarray(at, at + length);
}

const SAMPLE_RATES = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];
/** The object type and the index of the rate after which the value follows. */
const ESCAPE = { objectType: 31, rate: 15 } as const;

/** ISO/IEC 14496-3 §1.6.2.1. */
function readAudioSpecificConfig(bytes: Buffer): AacConfig {
  const reader = new BitReader(bytes);
  const type = reader.bits(5);
  const objectType = type === ESCAPE.objectType ? 32 + reader.bits(6) : type;
  const index = reader.bits(4);
  const sampleRate = index === ESCAPE.rate ? reader.bits(24) : SAMPLE_RATES[index];
  if (sampleRate === undefined || sampleRate === 0) throw new Error('the sample rate is invalid');
  return { objectType, sampleRate, channels: reader.bits(4) };
}
