import { type Outcome, unwrap } from './framelane-error.ts';

type Page<Item> = { data: Item[]; nextCursor: string | null };

/** Yields every entry of a list. Gets the next page after the last entry of the previous one; the first page has no cursor. */
export async function* listAll<Item>(
  getPage: (position: { cursor?: string }) => Promise<Outcome<Page<Item>>>,
): AsyncGenerator<Item, void> {
  let position = {};
  for (;;) {
    const { data, nextCursor } = await unwrap(getPage(position));
    yield* data;
    if (nextCursor === null) return;
    position = { cursor: nextCursor };
  }
}
