/** Tags of descriptors (ISO/IEC 14496-1 §7.2.2.1). */
const TAGS = { elementaryStream: 3, decoderConfig: 4, decoderSpecific: 5 } as const;
/** Version and flags of the box. */
const FULL_BOX_BYTES = 4;
/** The id and the flags of a stream: ffmpeg writes none of the optional fields. */
const STREAM_FIELDS_BYTES = 3;
/** Object type, stream type, buffer size and bit rates. */
const CONFIG_FIELDS_BYTES = 13;
/** MPEG-4 audio (ISO/IEC 14496-1 table 5). */
const MPEG4_AUDIO = 0x40;

/** RFC 6381 codec string of AAC from the content of its box `esds`, as ffmpeg writes it (ISO/IEC 14496-14 §6.7.2). Throws if it is something else. */
export function configuredCodec(esds: Buffer): string {
  const stream = descriptor(esds.subarray(FULL_BOX_BYTES), TAGS.elementaryStream);
  const config = descriptor(stream.subarray(STREAM_FIELDS_BYTES), TAGS.decoderConfig);
  if (config.readUInt8(0) !== MPEG4_AUDIO) throw new Error('The audio is not MPEG-4 audio');
  const specific = descriptor(config.subarray(CONFIG_FIELDS_BYTES), TAGS.decoderSpecific);
  // The object type has 5 bits (ISO/IEC 14496-3 §1.6.2.1).
  return `mp4a.40.${specific.readUInt8(0) >> 3}`;
}

/** The content of a descriptor. Its length has 7 bits in each byte. Throws if it is truncated. */
function descriptor(bytes: Buffer, tag: number): Buffer {
  if (bytes.readUInt8(0) !== tag) throw new Error(`The descriptor ${tag} is missing`);
  let length = 0;
  let at = 1;
  for (let isLast = false; !isLast && at <= 4; at += 1) {
    const byte = bytes.readUInt8(at);
    length = length * 128 + (byte & 0x7f);
    isLast = (byte & 0x80) === 0;
  }
  if (at + length > bytes.length) throw new Error(`The descriptor ${tag} is truncated`);
  return bytes.subarray(at, at + length);
}
