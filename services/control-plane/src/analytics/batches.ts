/**
 * Groups what has sizes into batches whose sizes add up to at most `most`, in order. Something larger is a batch of its own.
 */
export function batchesOf<Each>(
  all: readonly Each[],
  sizeOf: (each: Each) => number,
  most: number,
): Each[][] {
  const batches: Each[][] = [];
  let free = 0;
  for (const each of all) {
    const size = sizeOf(each);
    const batch = batches.at(-1);
    if (batch === undefined || size > free) {
      batches.push([each]);
      free = most - size;
    } else {
      batch.push(each);
      free -= size;
    }
  }
  return batches;
}
