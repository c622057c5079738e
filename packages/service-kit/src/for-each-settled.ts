/**
 * Runs `work` for one item after another, and continues when it fails for one. Then it rejects with an AggregateError if
 * anything failed; the `cause` is the first failure.
 */
export async function forEachSettled<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
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
