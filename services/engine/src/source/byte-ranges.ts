/** Parts of a file: first byte and the byte after the last one. Ascending, and without a common byte. */
export type ByteRanges = readonly (readonly [number, number])[];

/** The bytes that are in at least one of the ranges, which may be in any order. */
export function union(ranges: ByteRanges): ByteRanges {
  const joined: [number, number][] = [];
  for (const [start, end] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (start >= end) continue;
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** The bytes of `ranges` that are not in `others`. */
export function without(ranges: ByteRanges, others: ByteRanges): ByteRanges {
  return others.reduce<ByteRanges>(
    (rest, [from, to]) =>
      rest.flatMap(([start, end]): ByteRanges => {
        const before = [start, Math.min(end, from)] as const;
        const after = [Math.max(start, to), end] as const;
        return [before, after].filter(([a, b]) => a < b);
      }),
    ranges,
  );
}

/** The number of bytes. */
export function lengthOf(ranges: ByteRanges): number {
  return ranges.reduce((sum, [start, end]) => sum + end - start, 0);
}
