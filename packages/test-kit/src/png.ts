import { crc32, deflateSync } from 'node:zlib';

/** A chunk of a PNG image. */
export function pngChunk(type: string, data: Uint8Array): Buffer {
  const checked = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(checked), 4);
  return Buffer.concat([ends.subarray(0, 4), checked, ends.subarray(4)]);
}

export const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');

/** The header of an image with 8 bits of red, green, blue and alpha. */
export function pngHeader(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 6, 0, 0, 0], 8);
  return pngChunk('IHDR', header);
}

/** A PNG image of this size in one colour: red, green, blue and alpha. */
export function pngOf(width: number, height: number, colour = [255, 0, 0, 255]): Buffer {
  const row = [0, ...Array.from({ length: width }, () => colour).flat()];
  const pixels = Buffer.alloc(height * row.length, Buffer.from(row));
  const data = pngChunk('IDAT', deflateSync(pixels));
  return Buffer.concat([PNG_SIGNATURE, pngHeader(width, height), data, pngChunk('IEND', Buffer.alloc(0))]);
}
