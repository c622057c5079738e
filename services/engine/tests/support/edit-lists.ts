import { box } from './mp4-boxes.ts';

/** An entry of an edit list (ISO/IEC 14496-12 §8.6.6). */
export type Edit = {
  /** The second of the track's media at which it begins; null for an empty edit. */
  from: number | null;
  /** Its duration in seconds. */
  lasts: number;
  /** The speed; 1 unless given. 0 shows one frame for the whole duration. */
  rate?: number;
};

/**
 * A copy of an MP4 in which each track has another edit list, in the order of the tracks; undefined for none. File offsets stay valid
 * only for data before the index.
 */
export function withEditLists(file: Buffer, lists: readonly (readonly Edit[] | undefined)[]): Buffer {
  let movieScale = 0;
  let track = 0;
  return mapBoxes(file, (name, content) => {
    if (name !== 'moov') return box(name, content);
    const changed = mapBoxes(content, (inner, innerContent) => {
      if (inner === 'mvhd') movieScale = timescaleOf(innerContent);
      if (inner !== 'trak') return box(inner, innerContent);
      const edits = lists[track];
      track += 1;
      return box('trak', withEditList(innerContent, edits, movieScale));
    });
    return box(name, changed);
  });
}

function withEditList(trak: Buffer, edits: readonly Edit[] | undefined, movieScale: number): Buffer {
  let mediaScale = 0;
  mapBoxes(trak, (name, content) => {
    if (name === 'mdia') mediaScale = timescaleOf(content.subarray(8));
    return content;
  });
  return mapBoxes(trak, (name, content) => {
    if (name === 'edts') return Buffer.of();
    if (name !== 'tkhd' || edits === undefined) return box(name, content);
    return Buffer.concat([box(name, content), editBox(edits, { movieScale, mediaScale })]);
  });
}

function editBox(
  edits: readonly Edit[],
  { movieScale, mediaScale }: { movieScale: number; mediaScale: number },
): Buffer {
  const entries = edits.map(({ from, lasts, rate = 1 }) => {
    const entry = Buffer.alloc(12);
    entry.writeUInt32BE(Math.round(lasts * movieScale), 0);
    entry.writeInt32BE(from === null ? -1 : Math.round(from * mediaScale), 4);
    entry.writeInt32BE(Math.round(rate * 65_536), 8);
    return entry;
  });
  const head = Buffer.alloc(8);
  head.writeUInt32BE(edits.length, 4);
  return box('edts', box('elst', Buffer.concat([head, ...entries])));
}

/** `mvhd` and `mdhd` of version 0 have the timescale after two times. */
function timescaleOf(header: Buffer): number {
  return header.readUInt32BE(12);
}

function mapBoxes(content: Buffer, map: (name: string, content: Buffer) => Buffer): Buffer {
  const mapped: Buffer[] = [];
  for (let at = 0; at < content.length; ) {
    const end = at + content.readUInt32BE(at);
    mapped.push(map(content.toString('latin1', at + 4, at + 8), content.subarray(at + 8, end)));
    at = end;
  }
  return Buffer.concat(mapped);
}
