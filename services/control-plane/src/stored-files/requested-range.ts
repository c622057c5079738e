import type { ByteRange } from '@framelane/object-store/object-store';

/**
 * The range of a file that the header Range requests (RFC 9110 §14.1.2). Undefined for the whole file: if there is no header, if it is
 * invalid or has another unit than bytes, or if its ranges are not one together. Servers may ignore these headers (§14.2).
 */
export function requestedRange(
  header: string | undefined,
  bytes: number,
): ByteRange | undefined | 'unsatisfiable' {
  const list = /^bytes=(.*)$/i.exec(header ?? '')?.[1];
  // A list can have empty elements (§5.6.1).
  const specs =
    list
      ?.split(',')
      .map((spec) => spec.trim())
      .filter((spec) => spec !== '') ?? [];
  const ranges = specs.map((spec) => readRange(spec, bytes));
  if (ranges.length === 0 || !ranges.every((range) => range !== undefined)) return undefined;
  const existing = ranges.filter(({ start, end }) => start <= end).sort((a, b) => a.start - b.start);
  const [first] = existing;
  return first === undefined ? 'unsatisfiable' : unite(first, existing);
}

/** One range. It is empty if the file has no byte of it. Undefined if it is invalid. */
function readRange(spec: string, bytes: number): ByteRange | undefined {
  const [, from = '', to = ''] = /^(\d*)-(\d*)$/.exec(spec) ?? [];
  if (from === '') return to === '' ? undefined : { start: Math.max(0, bytes - Number(to)), end: bytes - 1 };
  if (to !== '' && Number(to) < Number(from)) return undefined;
  return { start: Number(from), end: Math.min(to === '' ? Infinity : Number(to), bytes - 1) };
}

/** The range of all these ranges, which are sorted by their start. Undefined if there is a gap between them. */
function unite({ start, end }: ByteRange, ranges: readonly ByteRange[]): ByteRange | undefined {
  for (const range of ranges) {
    if (range.start > end + 1) return undefined;
    end = Math.max(end, range.end);
  }
  return { start, end };
}
