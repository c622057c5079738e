/** Up to `max` entries of a list. */
export async function firstOf<Entry>(list: AsyncIterable<Entry>, max: number): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const entry of list) {
    found.push(entry);
    if (found.length >= max) break;
  }
  return found;
}
