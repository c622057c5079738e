import { box, boxesIn, contentAt, contentOf, FULL_BOX_BYTES } from './boxes.ts';

/** What a sample has that its fragment does not describe, and what decoders need before the first one. */
export type Initialization = {
  /** Units of its times in a second. */
  timescale: number;
  trackId: number;
  defaults: { duration: number; size: number; flags: number };
  /** The content of the box that configures the decoder. */
  configuration: Buffer;
  /** That of the box `colr`, if there is one. */
  colour?: Buffer;
  /** The whole section, without what ffmpeg says about itself, and without what differs between runs. */
  bytes: Buffer;
};

const MEDIA = ['moov', 'trak', 'mdia'];
const DESCRIPTIONS = [...MEDIA, 'minf', 'stbl', 'stsd'];
/** The number of entries before the entries of a sample description box. */
const COUNT_BYTES = 4;
/** The fields of a sample entry before its boxes, by the handler of its track (ISO/IEC 14496-12 §12.1.3, §12.2.3). */
const ENTRY_BYTES: Readonly<Record<string, number>> = { vide: 78, soun: 28 };

/**
 * Reads an initialization section of one track, as ffmpeg writes it. Throws if it cannot be parsed.
 *
 * @param configurationBox the type of the box that configures the decoder
 */
export function readInitialization(section: Buffer, configurationBox: string): Initialization {
  const defaults = contentAt(section, ['moov', 'mvex', 'trex']).subarray(FULL_BOX_BYTES);
  const { boxes } = entryOf(section);
  const colour = boxes.find(({ type }) => type === 'colr')?.content;
  return {
    timescale: timescaleOf(section),
    trackId: defaults.readUInt32BE(0),
    defaults: {
      duration: defaults.readUInt32BE(8),
      size: defaults.readUInt32BE(12),
      flags: defaults.readUInt32BE(16),
    },
    configuration: contentOf(boxes, configurationBox),
    ...(colour && { colour }),
    bytes: normalized(section),
  };
}

/** Units of the times of the track in a second. Throws if the section cannot be parsed. */
export function timescaleOf(section: Buffer): number {
  const header = contentAt(section, [...MEDIA, 'mdhd']);
  // The fields before have 32 bits, or 64 in version 1.
  const timescale = header.readUInt32BE(FULL_BOX_BYTES + (header.readUInt8(0) === 0 ? 8 : 16));
  if (timescale === 0) throw new Error('The track has no timescale');
  return timescale;
}

/** The section with another content of the box that configures the decoder. */
export function withConfiguration(section: Buffer, configurationBox: string, configuration: Buffer): Buffer {
  const { type, fields, boxes } = entryOf(section);
  const changed = boxes.map((each) =>
    each.type === configurationBox ? box(each.type, configuration) : each.bytes,
  );
  return withEntry(section, box(type, fields, ...changed));
}

function withEntry(section: Buffer, entry: Buffer): Buffer {
  const head = contentAt(section, DESCRIPTIONS).subarray(0, FULL_BOX_BYTES + COUNT_BYTES);
  return replaced(section, DESCRIPTIONS, Buffer.concat([head, entry]));
}

/** The only sample entry: its fields and its boxes. */
function entryOf(section: Buffer) {
  const handler = contentAt(section, [...MEDIA, 'hdlr']).toString(
    'latin1',
    FULL_BOX_BYTES + 4,
    FULL_BOX_BYTES + 8,
  );
  const entries = boxesIn(contentAt(section, DESCRIPTIONS).subarray(FULL_BOX_BYTES + COUNT_BYTES));
  const [entry] = entries;
  const bytes = ENTRY_BYTES[handler];
  if (entry === undefined || entries.length > 1 || bytes === undefined)
    throw new Error('The track has not one sample entry');
  const { type, content } = entry;
  return { type, fields: content.subarray(0, bytes), boxes: boxesIn(content.subarray(bytes)) };
}

/** In a sample entry of video: the name of the encoder, in 32 bytes. */
const COMPRESSOR_NAME = { at: 42, end: 74 };

/** Without the names and versions of ffmpeg and of the encoder, and without the bit rate, which only some muxers of ffmpeg write. */
function normalized(section: Buffer): Buffer {
  const movie = boxesIn(contentAt(section, ['moov'])).filter(({ type }) => type !== 'udta');
  const { type, fields, boxes } = entryOf(section);
  const unnamed = Buffer.from(fields);
  if (fields.length === ENTRY_BYTES.vide) unnamed.fill(0, COMPRESSOR_NAME.at, COMPRESSOR_NAME.end);
  const kept = boxes.filter((each) => each.type !== 'btrt').map(({ bytes }) => bytes);
  const named = replaced(section, ['moov'], Buffer.concat(movie.map(({ bytes }) => bytes)));
  return withEntry(named, box(type, unnamed, ...kept));
}

/** The bytes with another content of the box at a path. */
function replaced(bytes: Buffer, [type = '', ...path]: readonly string[], content: Buffer): Buffer {
  const parts = boxesIn(bytes).map((each) => {
    if (each.type !== type) return each.bytes;
    return box(type, path.length === 0 ? content : replaced(each.content, path, content));
  });
  return Buffer.concat(parts);
}
