const PACKET_BYTES = 188;
/** The first byte of each packet. */
export const SYNC_BYTE = 0x47;

/** A packet of an MPEG-2 transport stream (ISO/IEC 13818-1 §2.4.3). */
export type TransportPacket = {
  pid: number;
  /** Whether a table or a PES packet begins in this packet. */
  begins: boolean;
  counter: number;
  /** Whether the counter may jump here. */
  counterMayJump: boolean;
  /** Empty if the packet has none. */
  payload: Buffer;
};

/** Splits a transport stream into packets. */
export class PacketReader {
  #rest: Buffer = Buffer.alloc(0);
  #offset = 0;

  /** The packets that are complete now. Throws after those before one that does not begin with the sync byte. */
  *push(chunk: Buffer): Generator<TransportPacket> {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (; at + PACKET_BYTES <= bytes.length; at += PACKET_BYTES) {
      if (bytes[at] !== SYNC_BYTE) throw new Error(`no packet begins at byte ${this.#offset + at}`);
      yield readPacket(bytes.subarray(at, at + PACKET_BYTES));
    }
    this.#rest = bytes.subarray(at);
    this.#offset += at;
  }

  /** Throws if the last packet is truncated, or if no packet arrived. */
  end(): void {
    if (this.#rest.length > 0) throw new Error(`the last ${this.#rest.length} bytes are not a whole packet`);
    if (this.#offset === 0) throw new Error('there are no packets');
  }
}

function readPacket(bytes: Buffer): TransportPacket {
  const head = bytes.readUInt16BE(1);
  const control = bytes.readUInt8(3);
  const adaptationBytes = (control & 0x20) === 0 ? 0 : 1 + bytes.readUInt8(4);
  return {
    pid: head & 0x1fff,
    begins: (head & 0x4000) !== 0,
    counter: control & 0x0f,
    counterMayJump: adaptationBytes > 1 && (bytes.readUInt8(5) & 0x80) !== 0,
    payload: (control & 0x10) === 0 ? Buffer.alloc(0) : bytes.subarray(4 + adaptationBytes),
  };
}
