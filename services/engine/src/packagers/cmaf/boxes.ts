import { ToolOutputError } from '../../sandbox/tool-output.ts';

/** A box of ISO/IEC 14496-12 §4.2: its type, its content, and all its bytes. */
export type Box = { type: string; content: Buffer; bytes: Buffer };

/** Size and type. ffmpeg writes larger headers only for boxes of 4 GiB. */
const HEADER_BYTES = 8;
/** Version and flags of a full box (§4.2.2). */
export const FULL_BOX_BYTES = 4;

/** More than a segment has: of each frame, a `moof` and an `mdat`. Without a limit, a segment of empty boxes takes much more memory than its bytes. */
const MAX_BOXES = 20_000;

/** The boxes that some bytes consist of. Throws an Error if one is truncated, and a ToolOutputError if there are more than ffmpeg writes. */
export function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size = at + HEADER_BYTES <= bytes.length ? bytes.readUInt32BE(at) : 0;
    if (size < HEADER_BYTES || at + size > bytes.length) throw new Error('A box is truncated');
    if (boxes.length === MAX_BOXES) throw new ToolOutputError('There are too many boxes');
    const box = bytes.subarray(at, at + size);
    boxes.push({ type: box.toString('latin1', 4, 8), content: box.subarray(HEADER_BYTES), bytes: box });
    at += size;
  }
  return boxes;
}

/** The content of the only box of a type. Throws if there is none, or several. */
export function contentOf(boxes: readonly Box[], type: string): Buffer {
  const [box, ...others] = boxes.filter((each) => each.type === type);
  if (box === undefined) throw new Error(`The box ${type} is missing`);
  if (others.length > 0) throw new Error(`There are several boxes ${type}`);
  return box.content;
}

/** The content of a box within others. Throws if one of them is missing, or there are several. */
export function contentAt(bytes: Buffer, [type = '', ...path]: readonly string[]): Buffer {
  const content = contentOf(boxesIn(bytes), type);
  return path.length === 0 ? content : contentAt(content, path);
}

/** A box with that content. */
export function box(type: string, ...content: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(content.reduce((sum, { length }) => sum + length, HEADER_BYTES));
  header.write(type, 4, 'latin1');
  return Buffer.concat([header, ...content]);
}

/** A full box with 32-bit numbers. The version is in the upper 8 bits of `flags`. */
export function fullBox(type: string, flags: number, numbers: readonly number[]): Buffer {
  const content = Buffer.alloc(4 * (1 + numbers.length));
  for (const [at, number] of [flags, ...numbers].entries()) content.writeUInt32BE(number >>> 0, 4 * at);
  return box(type, content);
}
