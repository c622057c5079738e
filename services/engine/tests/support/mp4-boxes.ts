/** Bytes before the child boxes of a box. */
const HEADS: Record<string, number> = { stsd: 8, dref: 8, hvc1: 78 };

/**
 * A copy of an MP4 with replaced content of the first box at a path, and with corrected sizes of the boxes around it. File
 * offsets stay valid only for data before the box, e.g. for media data if the index is at the end.
 */
export function withBox(
  file: Buffer,
  [name, ...inner]: readonly string[],
  replaced: (content: Buffer) => Buffer,
): Buffer {
  for (let at = 0; at + 8 <= file.length; ) {
    const size = file.readUInt32BE(at);
    const end = size === 0 ? file.length : at + size;
    if (file.toString('latin1', at + 4, at + 8) === name) {
      const content = file.subarray(at + 8, end);
      const head = HEADS[name] ?? 0;
      const changed =
        inner.length === 0
          ? replaced(content)
          : Buffer.concat([content.subarray(0, head), withBox(content.subarray(head), inner, replaced)]);
      return Buffer.concat([file.subarray(0, at), box(name, changed), file.subarray(end)]);
    }
    if (size < 8) break;
    at = end;
  }
  throw new Error(`The box ${name} is missing`);
}

export function box(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, content]);
}

/** The values a, b, c and d of a display matrix (ISO/IEC 14496-12 §6.2.2). */
export type DisplayMatrix = readonly [number, number, number, number];

/** A copy of an MP4 whose first track has this display matrix. */
export function withDisplayMatrix(file: Buffer, [a, b, c, d]: DisplayMatrix): Buffer {
  return withBox(file, ['moov', 'trak', 'tkhd'], (header) => {
    for (const [place, value] of [a, b, 0, c, d].entries())
      header.writeInt32BE(value * 65_536, 40 + 4 * place);
    return header;
  });
}

const SAMPLE_TABLE = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

/** A copy of an MP4 whose first track has its sample entry twice. The second one applies to the last chunks. */
export function withSecondSampleEntry(file: Buffer): Buffer {
  const described = withBox(file, [...SAMPLE_TABLE, 'stsd'], (entries) => {
    const twice = Buffer.concat([entries, entries.subarray(HEADS.stsd)]);
    twice.writeUInt32BE(2, 4);
    return twice;
  });
  return withBox(described, [...SAMPLE_TABLE, 'stsc'], (chunks) => {
    chunks.writeUInt32BE(2, chunks.length - 4);
    return chunks;
  });
}
