import { crc32 } from 'node:zlib';

/** The first bytes of every PNG image (PNG, third edition, §5.2). */
const SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** A chunk has a length, a type and a CRC, of four bytes each (§5.3). */
const CHUNK_OVERHEAD = 12;

/** Real images of a megabyte have some hundreds. */
const MAX_CHUNKS = 5000;

/** Chunks that decoders need. Others contain texts and colour profiles, which can be compressed bombs. */
const NEEDED = ['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND'];

/** The bit depths of each colour type (§11.2.1). */
const BIT_DEPTHS: Record<number, readonly number[]> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
};
const PALETTE = 3;

/** An image without the chunks that decoders do not need, and its size; or why it cannot be used. */
export type ReadPng =
  | { image: Buffer; width: number; height: number; flaw?: undefined }
  | { image?: undefined; flaw: 'damaged' | 'animated' };

const DAMAGED: ReadPng = { flaw: 'damaged' };

export function isPng(file: Buffer): boolean {
  return file.subarray(0, SIGNATURE.length).equals(SIGNATURE);
}

/** Reads a PNG image: its header and the CRC of each chunk. Decompresses nothing. The work is linear. */
export function readPng(file: Buffer): ReadPng {
  const chunks = chunksOf(file);
  const header = chunks?.[0]?.type === 'IHDR' ? headerOf(chunks[0].data) : undefined;
  if (chunks === undefined || header === undefined) return DAMAGED;
  if (chunks.some(({ type }) => type === 'acTL')) return { flaw: 'animated' };
  const needed = chunks.filter(({ type }) => NEEDED.includes(type));
  const count = (wanted: string) => needed.filter(({ type }) => type === wanted).length;
  const { width, height, colourType } = header;
  const hasPalette = colourType !== PALETTE || count('PLTE') === 1;
  if (count('IHDR') > 1 || count('IDAT') === 0 || !hasPalette) return DAMAGED;
  return { image: Buffer.concat([SIGNATURE, ...needed.map(({ bytes }) => bytes)]), width, height };
}

/** The chunks up to the end of the image; undefined if one is damaged or missing, or if there are too many. */
function chunksOf(file: Buffer): Chunk[] | undefined {
  const chunks: Chunk[] = [];
  let at = SIGNATURE.length;
  while (chunks.length < MAX_CHUNKS) {
    const chunk = chunkAt(file, at);
    if (chunk === undefined) return undefined;
    chunks.push(chunk);
    if (chunk.type === 'IEND') return chunks;
    at += chunk.bytes.length;
  }
  return undefined;
}

type Chunk = { type: string; data: Buffer; bytes: Buffer };

/** The chunk that begins at a position; undefined if it is incomplete, or its CRC is wrong. */
function chunkAt(file: Buffer, at: number): Chunk | undefined {
  if (at + CHUNK_OVERHEAD > file.length) return undefined;
  const end = at + CHUNK_OVERHEAD + file.readUInt32BE(at);
  if (end > file.length) return undefined;
  const checked = file.subarray(at + 4, end - 4);
  if (crc32(checked) !== file.readUInt32BE(end - 4)) return undefined;
  return { type: checked.toString('latin1', 0, 4), data: checked.subarray(4), bytes: file.subarray(at, end) };
}

type Header = { width: number; height: number; colourType: number };

/** The header of an image; undefined if it is invalid. */
function headerOf(data: Buffer): Header | undefined {
  if (data.length !== 13) return undefined;
  const [bitDepth = 0, colourType = 0, compression, filter, interlace = 0] = data.subarray(8);
  const isKnown = compression === 0 && filter === 0 && interlace <= 1;
  if (!isKnown || !BIT_DEPTHS[colourType]?.includes(bitDepth)) return undefined;
  return { width: data.readUInt32BE(0), height: data.readUInt32BE(4), colourType };
}
