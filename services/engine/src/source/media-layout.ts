import { open } from 'node:fs/promises';
import { type ByteRanges, union } from './byte-ranges.ts';
import type { PacketRun } from './packet-runs.ts';

/** The layout of a file, for runs that read only a part of it. */
export type MediaLayout = {
  /** Size of the file. */
  bytes: number;
  /** Everything but media data: headers and the index. */
  index: ByteRanges;
  /** The packets of the video, in the order of decoding. */
  runs: readonly PacketRun[];
};

/** Ordinary files have only a few top-level boxes. */
const MAX_BOXES = 64;
/** Size and type, and the size again with 64 bits. */
const HEADER_BYTES = 16;
const LARGE_SIZE_OFFSET = 8;

/**
 * Everything in an MP4 or QuickTime file except the media data (boxes `mdat`, ISO/IEC 14496-12). Null if the file is fragmented,
 * truncated, or otherwise unusual.
 */
export async function readContainerIndex(path: string): Promise<{ bytes: number; index: ByteRanges } | null> {
  const file = await open(path);
  try {
    const { size: bytes } = await file.stat();
    const index: [number, number][] = [];
    const types = new Set<string>();
    for (let at = 0, boxes = 0; at < bytes; boxes += 1) {
      const header = Buffer.alloc(HEADER_BYTES);
      const { bytesRead } = await file.read(header, 0, HEADER_BYTES, at);
      if (bytesRead < LARGE_SIZE_OFFSET || boxes === MAX_BOXES) return null;
      const { end, headerBytes } = boxAt(at, header, bytes);
      if (end < at + headerBytes || end > bytes) return null;
      const type = header.toString('latin1', 4, 8);
      types.add(type);
      index.push([at, type === 'mdat' ? at + headerBytes : end]);
      at = end;
    }
    return types.has('moov') && types.has('mdat') && !types.has('moof')
      ? { bytes, index: union(index) }
      : null;
  } finally {
    await file.close();
  }
}

function boxAt(at: number, header: Buffer, fileBytes: number): { end: number; headerBytes: number } {
  const size = header.readUInt32BE(0);
  // The last box may extend to the end of the file.
  if (size === 0) return { end: fileBytes, headerBytes: LARGE_SIZE_OFFSET };
  if (size === 1)
    return { end: at + Number(header.readBigUInt64BE(LARGE_SIZE_OFFSET)), headerBytes: HEADER_BYTES };
  return { end: at + size, headerBytes: LARGE_SIZE_OFFSET };
}
