import type { FileHandle } from 'node:fs/promises';

/** A box of an MP4 or QuickTime file (ISO/IEC 14496-12 §4.2). */
export type Box = {
  type: string;
  /** Positions in the file: of the header, of the content, and of the byte after the box. */
  start: number;
  content: number;
  end: number;
};

/** Size and type, and the size again with 64 bits. */
const HEADER_BYTES = 16;
const LARGE_SIZE_OFFSET = 8;

/** The boxes in a part of a file. Ends before the first one that is damaged or extends beyond the part. */
export async function* boxesIn(file: FileHandle, from: number, to: number): AsyncGenerator<Box> {
  for (let start = from; start < to; ) {
    const header = Buffer.alloc(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, start);
    if (bytesRead < LARGE_SIZE_OFFSET) return;
    const { end, headerBytes } = extentOf(start, header, to);
    if (end < start + headerBytes || end > to) return;
    yield { type: header.toString('latin1', 4, 8), start, content: start + headerBytes, end };
    start = end;
  }
}

function extentOf(start: number, header: Buffer, to: number): { end: number; headerBytes: number } {
  const size = header.readUInt32BE(0);
  // The last box may extend to the end.
  if (size === 0) return { end: to, headerBytes: LARGE_SIZE_OFFSET };
  if (size === 1)
    return { end: start + Number(header.readBigUInt64BE(LARGE_SIZE_OFFSET)), headerBytes: HEADER_BYTES };
  return { end: start + size, headerBytes: LARGE_SIZE_OFFSET };
}
