import { open } from 'node:fs/promises';
import { boxesIn } from './boxes.ts';
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
    let end = 0;
    for await (const box of boxesIn(file, 0, bytes)) {
      if (index.length === MAX_BOXES) return null;
      types.add(box.type);
      index.push([box.start, box.type === 'mdat' ? box.content : box.end]);
      end = box.end;
    }
    if (end < bytes) return null;
    return types.has('moov') && types.has('mdat') && !types.has('moof')
      ? { bytes, index: union(index) }
      : null;
  } finally {
    await file.close();
  }
}
