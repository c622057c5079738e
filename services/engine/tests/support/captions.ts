const START_CODE = Buffer.from([0, 0, 1]);
/** NAL unit types of slices. */
const SLICES = [1, 5];

/** An SEI message with one CEA-608 character pair (ANSI/SCTE 128-1 §8.1): user data registered by ATSC. */
const CAPTION = Buffer.concat([
  START_CODE,
  Buffer.from([6, 4, 14, 0xb5, 0x00, 0x31]),
  Buffer.from('GA94'),
  Buffer.from([0x03, 0x41, 0xff, 0xfc, 0xc1, 0xc2, 0xff, 0x80]),
]);

/** Adds a caption to each frame of an H.264 byte stream, as American broadcasters do. Frames must have one slice. */
export function withCaptions(stream: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = stream.indexOf(START_CODE); at !== -1; ) {
    const next = stream.indexOf(START_CODE, at + 3);
    if (SLICES.includes((stream[at + 3] ?? 0) & 0x1f)) parts.push(CAPTION);
    parts.push(stream.subarray(at, next === -1 ? undefined : next));
    at = next;
  }
  return Buffer.concat(parts);
}
