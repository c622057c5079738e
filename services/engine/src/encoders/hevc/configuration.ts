import { isOfOtherLayer, PARAMETER_SETS, SEQUENCE_PARAMETER_SET, typeOf, unitsOf } from './nal-units.ts';

/** The fields of the box `hvcC` before its arrays of parameter sets (ISO/IEC 14496-15 §8.3.3.1.2). */
const HEAD_BYTES = 23;
const COMPATIBILITY_AT = 2;
const CONSTRAINTS = { at: 6, end: 12 };
const LEVEL_AT = 12;
const LENGTH_SIZE_AT = 21;
const ARRAYS_AT = 22;
/** Bytes of the length before each NAL unit: the muxer of ffmpeg writes no others. */
const LENGTH_BYTES = 4;

/** RFC 6381 codec string (ISO/IEC 14496-15 annex E.3): profile, compatible profiles, tier and level, constraints. Throws if the record is truncated. */
export function configuredCodec(configuration: Buffer): string {
  assertHead(configuration);
  const profile = configuration.readUInt8(1);
  const space = ['', 'A', 'B', 'C'][profile >> 6];
  const compatible = reversed(configuration.readUInt32BE(COMPATIBILITY_AT)).toString(16).toUpperCase();
  const tier = isHighTier(configuration) ? 'H' : 'L';
  const constraints = [...configuration.subarray(CONSTRAINTS.at, CONSTRAINTS.end)];
  const last = constraints.findLastIndex((byte) => byte !== 0);
  return [
    'hvc1',
    `${space}${profile & 31}`,
    compatible,
    `${tier}${configuration.readUInt8(LEVEL_AT)}`,
    ...constraints.slice(0, last + 1).map((byte) => byte.toString(16).toUpperCase()),
  ].join('.');
}

/**
 * Tells whether the configuration has one sequence parameter set, and all parameter sets in a sample are those of the configuration. False for the
 * high tier and for samples of several layers, which few decoders know.
 */
export function isConfigured(configuration: Buffer): (sample: Buffer) => boolean {
  const sets = parameterSets(configuration);
  if (isHighTier(configuration)) return () => false;
  if (sets.filter((set) => typeOf(set) === SEQUENCE_PARAMETER_SET).length !== 1) return () => false;
  const known = new Set(sets.map((set) => set.toString('latin1')));
  return (sample) => {
    try {
      return unitsOf(sample).every((unit) => {
        if (isOfOtherLayer(unit)) return false;
        return !PARAMETER_SETS.includes(typeOf(unit)) || known.has(unit.toString('latin1'));
      });
    } catch {
      return false;
    }
  };
}

/** The configuration without messages, which a source may have there: they can say anything. Throws if the record is truncated. */
export function withoutMessages(configuration: Buffer): Buffer {
  const arrays = arraysOf(configuration).filter(({ units }) =>
    units.every((unit) => PARAMETER_SETS.includes(typeOf(unit))),
  );
  return Buffer.concat([
    configuration.subarray(0, ARRAYS_AT),
    Buffer.from([arrays.length]),
    ...arrays.map(({ bytes }) => bytes),
  ]);
}

function isHighTier(configuration: Buffer): boolean {
  return (configuration.readUInt8(1) & 0x20) !== 0;
}

function parameterSets(configuration: Buffer): Buffer[] {
  return arraysOf(configuration).flatMap(({ units }) => units);
}

/** The arrays of units of a record, with all their bytes. */
function arraysOf(configuration: Buffer): { bytes: Buffer; units: Buffer[] }[] {
  assertHead(configuration);
  const arrays: { bytes: Buffer; units: Buffer[] }[] = [];
  let at = ARRAYS_AT + 1;
  for (let array = configuration.readUInt8(ARRAYS_AT); array > 0; array -= 1) {
    const begin = at;
    const count = configuration.readUInt16BE(at + 1);
    const units: Buffer[] = [];
    at += 3;
    for (let unit = 0; unit < count; unit += 1) {
      const start = at + 2;
      at = start + configuration.readUInt16BE(at);
      if (at > configuration.length || at === start) throw new Error('A parameter set is truncated');
      units.push(configuration.subarray(start, at));
    }
    arrays.push({ bytes: configuration.subarray(begin, at), units });
  }
  return arrays;
}

function assertHead(configuration: Buffer): void {
  if (configuration.length < HEAD_BYTES) throw new Error('The configuration of the decoder is truncated');
  if ((configuration.readUInt8(LENGTH_SIZE_AT) & 3) !== LENGTH_BYTES - 1)
    throw new Error('The lengths of NAL units have another size');
}

/** The bits in reverse order. */
function reversed(bits: number): number {
  let result = 0;
  for (let at = 0; at < 32; at += 1) result = result * 2 + ((bits >>> at) & 1);
  return result;
}
