/** Alters fragmented MP4 of ffmpeg for the tests. Knows only the part of the format that they need. */

/** Where the body of a box begins: the first one of this type after `from`. */
export function bodyAt(bytes: Buffer, type: string, from = 0): number {
  const at = bytes.indexOf(type, from, 'latin1');
  if (at === -1) throw new Error(`There is no ${type}`);
  return at + 4;
}

/** Gives a box another type, so that readers skip it. */
export function hide(bytes: Buffer, type: string): void {
  bytes.write('free', bodyAt(bytes, type) - 4, 'latin1');
}

/** Moves the decoding time of a segment (`tfdt` of version 1), in units of its track. */
export function delay(segment: Buffer, units: number): void {
  const at = bodyAt(segment, 'tfdt') + 4;
  segment.writeBigUInt64BE(segment.readBigUInt64BE(at) + BigInt(units), at);
}
