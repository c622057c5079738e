import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { bytesOf, obusOf, SEQUENCE_HEADER, withMaxSize } from './av1.ts';
import { SPS, sampleOf, unitsOfSample, unitType, withParameterSets, withSize } from './hevc.ts';
import { box, withBox } from './mp4-boxes.ts';
import { quartered } from './quarters.ts';
import { withSamples } from './samples.ts';

export const SIZE = { width: 320, height: 180 };
export const FRAMES = 10;
const SECONDS = FRAMES / 25;
/** The distance of key frames. */
export const KEY_FRAMES = 5;

const HEVC_PARAMETERS = 'log-level=none:scenecut=0';
/** HEVC with other parameters of x265. */
export const hevcWith = (parameters: string): string[] => [
  '-c:v',
  'libx265',
  '-preset',
  'ultrafast',
  '-x265-params',
  `${HEVC_PARAMETERS}:${parameters}`,
];

/** The parameters of x265 for the clips. */
export const HEVC_CLIP = `bframes=0:keyint=${KEY_FRAMES}`;

const ENCODERS = {
  hevc: hevcWith(HEVC_CLIP),
  av1: ['-c:v', 'libaom-av1', '-cpu-used', '8', '-usage', 'realtime', '-g', String(KEY_FRAMES)],
};
export type Codec = keyof typeof ENCODERS;
export const CODECS = Object.keys(ENCODERS) as Codec[];
const ENTRIES = { hevc: 'hvc1', av1: 'av01' };
const CONFIGURATIONS = { hevc: 'hvcC', av1: 'av1C' };

/** Makes a clip of the four quarters. `options` follow those of the encoder. */
export async function quarterClip(
  directory: string,
  codec: Codec,
  kind: string,
  options: readonly string[] = [],
): Promise<string> {
  const name = [codec, ...options].join('').replaceAll(/\W/g, '');
  const tag = codec === 'hevc' && kind === 'mp4' ? ['-tag:v', 'hvc1'] : [];
  const raw = kind === 'obu' ? ['-f', 'obu'] : [];
  const clip = { video: quartered(SECONDS, SIZE), options: [...ENCODERS[codec], ...tag, ...options, ...raw] };
  return makeClip(join(directory, `${name}.${kind}`), clip);
}

/** The content of a clip of the four quarters in an MP4, in 8 bits and 4:2:0 unless the options say otherwise. */
export async function quarterMp4(directory: string, codec: Codec, ...options: string[]): Promise<Buffer> {
  return readFile(await quarterClip(directory, codec, 'mp4', ['-pix_fmt', 'yuv420p', ...options]));
}

const SAMPLE_ENTRIES = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'];
/** Bytes of a video sample entry before its boxes. */
const ENTRY_BYTES = 78;

/** A copy of an MP4 with other boxes in its sample entry. */
export function withEntryBoxes(file: Buffer, codec: Codec, changed: (boxes: Buffer) => Buffer): Buffer {
  return withBox(file, SAMPLE_ENTRIES, (entries) => {
    const boxes = entries.subarray(8 + 8 + ENTRY_BYTES);
    const fields = entries.subarray(8 + 8, 8 + 8 + ENTRY_BYTES);
    return Buffer.concat([
      entries.subarray(0, 8),
      box(ENTRIES[codec], Buffer.concat([fields, changed(boxes)])),
    ]);
  });
}

/** A copy of an MP4 with another content of its box `hvcC` or `av1C`. */
export function withConfiguration(file: Buffer, codec: Codec, changed: (record: Buffer) => Buffer): Buffer {
  return withEntryBoxes(file, codec, (boxes) => withBox(boxes, [CONFIGURATIONS[codec]], changed));
}

/** A copy of an MP4 with other parameter sets in its box `hvcC`. */
export function withHevcUnits(file: Buffer, changed: (unit: Buffer) => Buffer[]): Buffer {
  return withConfiguration(file, 'hevc', (record) => withParameterSets(record, changed));
}

/** A copy of an MP4 whose sequence parameter set declares another size. */
export const withHevcSize = (side: number) => (file: Buffer) =>
  withHevcUnits(file, (unit) => [
    unitType(unit) === SPS ? withSize(unit, { width: side, height: side }) : unit,
  ]);

/** A copy of a sample of AV1 whose sequence headers are changed. */
export function withSequenceHeaders(sample: Buffer, changed: (header: Buffer) => Buffer): Buffer {
  return bytesOf(
    obusOf(sample).map((obu) =>
      obu.type === SEQUENCE_HEADER ? { ...obu, payload: changed(obu.payload) } : obu,
    ),
  );
}

/** A copy of an MP4 of AV1 whose sequence headers are changed, in the container and in the samples. */
export function withAv1Headers(file: Buffer, changed: (header: Buffer) => Buffer): Buffer {
  const described = withConfiguration(file, 'av1', (record) =>
    Buffer.concat([record.subarray(0, 4), withSequenceHeaders(record.subarray(4), changed)]),
  );
  return withSamples(described, (sample) => withSequenceHeaders(sample, changed));
}

/** A copy of an MP4 of AV1 whose sequence headers declare another size. Frames then have the wrong size, or cannot be read. */
export const withAv1Size = (side: number) => (file: Buffer) =>
  withAv1Headers(file, (header) => withMaxSize(header, { width: side, height: side }));

/** A copy of an MP4 with other NAL units in each sample. */
export function withUnits(file: Buffer, changed: (unit: Buffer, sample: number) => Buffer[]): Buffer {
  return withSamples(file, (sample, number) =>
    sampleOf(unitsOfSample(sample).flatMap((unit) => changed(unit, number))),
  );
}
