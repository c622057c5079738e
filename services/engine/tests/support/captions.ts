const START_CODE = Buffer.from([0, 0, 1]);
/** Types of NAL units that are a picture of one slice. */
const PICTURES = [1, 5];

/** A message with one pair of letters for CEA-608 (ANSI/SCTE 128-1 §8.1): SEI of user data registered by ATSC. */
const CAPTION = Buffer.concat([
  START_CODE,
  Buffer.from([6, 4, 14, 0xb5, 0x00, 0x31]),
  Buffer.from('GA94'),
  Buffer.from([0x03, 0x41, 0xff, 0xfc, 0xc1, 0xc2, 0xff, 0x80]),
]);

/** A byte stream of H.264 with a caption in each picture, as American broadcasters send it. Pictures are of one slice. */
export function withCaptions(stream: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = stream.indexOf(START_CODE); at !== -1; ) {
    const next = stream.indexOf(START_CODE, at + 3);
    if (PICTURES.includes((stream[at + 3] ?? 0) & 0x1f)) parts.push(CAPTION);
    parts.push(stream.subarray(at, next === -1 ? undefined : next));
    at = next;
  }
  return Buffer.concat(parts);
}
