/** A box of ISO/IEC 14496-12 §4.2, without its header. */
export type Box = { type: string; body: Buffer };

const HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;
/** In the field of the size: the size is in 64 bits after the type; the box lasts to the end. */
const LARGE = 1;
const TO_THE_END = 0;

/** The header of a box: its type, its own length, and that of the box with it. */
export type BoxHeader = { type: string; headerBytes: number; bytes: number };

/** The header at the beginning of some bytes; null if they are too few. Throws if its size is impossible. */
export function readBoxHeader(bytes: Buffer): BoxHeader | null {
  if (bytes.length < HEADER_BYTES) return null;
  const size = bytes.readUInt32BE(0);
  const type = bytes.toString('latin1', 4, 8);
  if (size === TO_THE_END) return { type, headerBytes: HEADER_BYTES, bytes: Number.POSITIVE_INFINITY };
  if (size !== LARGE) return checked({ type, headerBytes: HEADER_BYTES, bytes: size });
  if (bytes.length < LARGE_HEADER_BYTES) return null;
  return checked({ type, headerBytes: LARGE_HEADER_BYTES, bytes: Number(bytes.readBigUInt64BE(8)) });
}

function checked(header: BoxHeader): BoxHeader {
  const { type, headerBytes, bytes } = header;
  if (bytes >= headerBytes) return header;
  throw new Error(`the box ${JSON.stringify(type)} has a size of ${bytes} bytes`);
}

/** The boxes in some bytes. Throws if one is truncated. */
export function boxesIn(bytes: Buffer): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at < bytes.length; ) {
    const rest = bytes.subarray(at);
    const header = readBoxHeader(rest);
    const length = header === null ? 0 : Math.min(header.bytes, rest.length);
    if (header === null || (header.bytes !== Number.POSITIVE_INFINITY && header.bytes > rest.length))
      throw new Error(`the box ${header === null ? 'at the end' : JSON.stringify(header.type)} is truncated`);
    boxes.push({ type: header.type, body: rest.subarray(header.headerBytes, length) });
    at += length;
  }
  return boxes;
}

/** The body of the only box of a type; undefined if there is none. */
export function bodyOf(boxes: readonly Box[], type: string): Buffer | undefined {
  return boxes.find((box) => box.type === type)?.body;
}

/** The body of a box that must be there. Throws if it is missing. */
export function requiredBody(boxes: readonly Box[], type: string): Buffer {
  const body = bodyOf(boxes, type);
  if (body === undefined) throw new Error(`the box ${type} is missing`);
  return body;
}

/** The version and the flags of a full box, and what follows them (§4.2.2). Throws if it is too short. */
export function fullBox(body: Buffer): { version: number; flags: number; rest: Buffer } {
  return { version: body.readUInt8(0), flags: body.readUIntBE(1, 3), rest: body.subarray(4) };
}
