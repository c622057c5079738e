/**
 * Does the work for one item after the other, whatever becomes of the others. Rejects in the end with an AggregateError
 * when any of it failed; its cause is the first failure.
 */
export async function settleEach<T>(items: Iterable<T>, work: (item: T) => Promise<unknown>): Promise<void> {
  const errors: unknown[] = [];
  let count = 0;
  for (const item of items) {
    count += 1;
    try {
      await work(item);
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length === 0) return;
  throw new AggregateError(errors, `${errors.length} of ${count} failed`, { cause: errors[0] });
}
