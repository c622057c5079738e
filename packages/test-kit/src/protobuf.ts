/** A field of a message of protobuf. Strings and messages are bytes. */
export type Field = { number: number; value: bigint | Buffer };

/** Reads the fields of a message, in their order: https://protobuf.dev/programming-guides/encoding. */
export function fieldsOf(message: Buffer): Field[] {
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const bytes = (length: number): Buffer => {
    if (at + length > message.byteLength) throw new RangeError('The message is truncated');
    at += length;
    return message.subarray(at - length, at);
  };
  while (at < message.byteLength) {
    const tag = Number(varint());
    const number = tag >> 3;
    const wireType = tag & 7;
    if (wireType === 0) fields.push({ number, value: varint() });
    else if (wireType === 1) fields.push({ number, value: bytes(8).readBigUInt64LE() });
    else if (wireType === 2) fields.push({ number, value: bytes(Number(varint())) });
    else if (wireType === 5) fields.push({ number, value: BigInt(bytes(4).readUInt32LE()) });
    else throw new Error(`Unknown wire type ${wireType}`);
  }
  return fields;
}

/** The values of a repeated field that are strings or messages. */
export function bytesOf(fields: readonly Field[], number: number): Buffer[] {
  return fields.flatMap((field) =>
    field.number === number && Buffer.isBuffer(field.value) ? [field.value] : [],
  );
}

/** The text of a field; empty without it. */
export function textOf(fields: readonly Field[], number: number): string {
  return bytesOf(fields, number)[0]?.toString('utf8') ?? '';
}

/** The number of a field; 0 without it. */
export function numberOf(fields: readonly Field[], number: number): bigint {
  const value = fields.find((field) => field.number === number)?.value;
  return typeof value === 'bigint' ? value : 0n;
}
