import { box } from './mp4-boxes.ts';

/** Numbers of 32 bits. */
export function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, 4 * at);
  return bytes;
}

/** A full box: version, flags and content (ISO/IEC 14496-12 §4.2.2). */
export function full(name: string, version: number, flags: number, ...content: readonly Buffer[]): Buffer {
  return box(name, Buffer.concat([numbers((version << 24) | flags), ...content]));
}

const boxOf = (name: string, ...content: readonly Buffer[]) => box(name, Buffer.concat(content));

/** A decoder configuration record (ISO/IEC 14496-15 §5.3.3.1). */
export function avcConfiguration(
  sequenceSets: readonly Buffer[],
  pictureSets: readonly Buffer[],
  rest = Buffer.alloc(0),
): Buffer {
  const sized = (sets: readonly Buffer[]) =>
    sets.map((set) => Buffer.concat([Buffer.from([set.length >> 8, set.length & 255]), set]));
  return Buffer.concat([
    Buffer.from([1, 100, 0, 30, 0xff, 0xe0 | sequenceSets.length]),
    ...sized(sequenceSets),
    Buffer.from([pictureSets.length]),
    ...sized(pictureSets),
    rest,
  ]);
}

/** The code of an id of parameter sets below 63, and a bit that ends it (ISO/IEC 14496-10 §9.1). */
function idBytes(id: number): Buffer {
  const code = (id + 1).toString(2);
  const bits = `${'0'.repeat(code.length - 1)}${code}1`.padEnd(16, '0');
  return Buffer.from([Number.parseInt(bits.slice(0, 8), 2), Number.parseInt(bits.slice(8, 16), 2)]);
}

/** A sequence parameter set of the High profile. `end` are its last bytes. */
export function sequenceSet(id: number, end = [9], profile = 100): Buffer {
  return Buffer.concat([Buffer.from([0x67, profile, 0, 30]), idBytes(id), Buffer.from(end)]);
}

export function pictureSet(id: number, end = [7]): Buffer {
  return Buffer.concat([Buffer.from([0x68]), idBytes(id), Buffer.from(end)]);
}

/** The parts of an initialization section that tests change. */
export type Section = {
  configuration?: Buffer;
  /** The types of the sample entry and of the box with its configuration, of another codec. */
  box?: readonly [entry: string, configuration: string];
  /** Version of `mdhd`. */
  version?: 0 | 1;
  timescale?: number;
  /** Of `trex`: duration, size and flags of samples. */
  defaults?: readonly [number, number, number];
  /** The names that ffmpeg writes: of the encoder, and of itself. */
  names?: readonly [string, string];
  /** The bit rate in a box `btrt`; null for no such box. */
  bitRate?: number | null;
};

/** An initialization section of one track, as ffmpeg writes it. */
export function section(handler: 'vide' | 'soun', parts: Section = {}): Buffer {
  const { configuration = avcConfiguration([sequenceSet(0)], [pictureSet(0)]), version = 0 } = parts;
  const { timescale = 12_800, defaults = [512, 0, 0x101_0000], bitRate = 80_000 } = parts;
  const [entryType, configurationBox] =
    parts.box ?? (handler === 'vide' ? ['avc1', 'avcC'] : ['mp4a', 'esds']);
  const [encoder, muxer] = parts.names ?? ['Lavc libx264', 'Lavf60.16.100'];
  const named = Buffer.alloc(32);
  named.writeUInt8(encoder.length);
  named.write(encoder, 1);
  const fields =
    handler === 'vide'
      ? Buffer.concat([
          Buffer.alloc(24),
          numbers((640 << 16) | 360),
          Buffer.alloc(14),
          named,
          Buffer.alloc(4),
        ])
      : Buffer.alloc(28, 2);
  const entry = boxOf(
    entryType,
    fields,
    box(configurationBox, configuration),
    ...(bitRate === null ? [] : [box('btrt', numbers(0, bitRate, bitRate))]),
    box('pasp', numbers(1, 1)),
  );
  const times = version === 0 ? numbers(0, 0, timescale, 0) : numbers(0, 0, 0, 0, timescale, 0, 0);
  return Buffer.concat([
    box('ftyp', Buffer.from('iso5\0\0\x02\0iso5iso6mp41', 'latin1')),
    boxOf(
      'moov',
      full('mvhd', 0, 0, Buffer.alloc(96)),
      boxOf(
        'trak',
        full('tkhd', 0, 3, Buffer.alloc(80)),
        boxOf(
          'mdia',
          full('mdhd', version, 0, times, Buffer.alloc(4)),
          full('hdlr', 0, 0, numbers(0), Buffer.from(handler), Buffer.alloc(13)),
          boxOf('minf', boxOf('stbl', full('stsd', 0, 0, numbers(1), entry), full('stts', 0, 0, numbers(0)))),
        ),
      ),
      boxOf('mvex', full('trex', 0, 0, numbers(1, 1, ...defaults))),
      boxOf('udta', box('name', Buffer.from(muxer))),
    ),
  ]);
}

/** A fragment: version and time of `tfdt`, flags and fields of `tfhd` after the id of the track, and runs of version, flags and numbers. */
export type Fragment = {
  time?: readonly [version: 0 | 1, time: bigint];
  header?: readonly [flags: number, ...fields: number[]];
  runs: readonly (readonly [version: 0 | 1, flags: number, ...values: number[]])[];
  media: Buffer;
};

/** A `moof` and its `mdat`. */
export function fragment({
  time: [version, time] = [1, 0n],
  header = [0x2_0000],
  runs,
  media,
}: Fragment): Buffer {
  const [flags, ...fields] = header;
  const times = Buffer.alloc(version === 0 ? 4 : 8);
  if (version === 0) times.writeUInt32BE(Number(time));
  else times.writeBigUInt64BE(time);
  const moof = boxOf(
    'moof',
    full('mfhd', 0, 0, numbers(1)),
    boxOf(
      'traf',
      full('tfhd', 0, flags, numbers(1, ...fields)),
      full('tfdt', version, 0, times),
      ...runs.map(([ofRun, flagsOfRun, ...values]) => full('trun', ofRun, flagsOfRun, numbers(...values))),
    ),
  );
  return Buffer.concat([moof, box('mdat', media)]);
}
