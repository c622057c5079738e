const PACKET_BYTES = 188;

/**
 * Declares the German AC-3 track of a transport stream as DVB teletext (ETSI EN 300 468 §6.2.43). Replaces its entry in each
 * program map table (PMT) by one of the same length.
 */
export function withTeletext(file: Buffer): Buffer {
  // The PMT entry to replace has stream type 0x81, a PID, and twelve bytes of descriptors: registration (`AC-3`) and language, in either
  // order.
  const registration = Buffer.from('\x05\x04AC-3', 'latin1');
  const language = Buffer.from('\x0a\x04ger\x00', 'latin1');
  // Page 100 in German, and padding.
  const teletext = Buffer.from('\x56\x05ger\x09\x00\xfe\x03\x00\x00\x00', 'latin1');
  for (let at = 0; at + PACKET_BYTES <= file.length; at += PACKET_BYTES) {
    const packet = file.subarray(at, at + PACKET_BYTES);
    const found = Math.max(
      packet.indexOf(Buffer.concat([registration, language])),
      packet.indexOf(Buffer.concat([language, registration])),
    );
    if (found === -1) continue;
    packet[found - 5] = 0x06;
    teletext.copy(packet, found);
    // The section follows four header bytes and a pointer byte.
    const section = packet.subarray(5, 5 + 3 + (packet.readUInt16BE(6) & 0x0fff));
    section.writeUInt32BE(crc32(section.subarray(0, -4)), section.length - 4);
  }
  return file;
}

/** CRC of sections in transport streams (ISO/IEC 13818-1 annex A). */
function crc32(bytes: Buffer): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc << 1) ^ (crc & 0x80000000 ? 0x04c11db7 : 0);
  }
  return crc >>> 0;
}
