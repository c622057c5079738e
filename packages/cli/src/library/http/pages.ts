import { TransferError } from './transfer-error.ts';

/** More than any library has; the end of a list that would go on forever. */
const MAX_PAGES = 100_000;

export type Page<Position> = {
  entries: readonly unknown[];
  /** Undefined after the last page. */
  next: Position | undefined;
};

/**
 * Yields the entries of all pages of a list, with their ids. An entry that a later page repeats, because the library changes meanwhile, is left out. Throws a
 * TransferError if the service returns the same position, or only entries of earlier pages.
 */
export async function* allPages<Position>(
  server: string,
  first: Position,
  getPage: (position: Position) => Promise<Page<Position>>,
  idOf: (entry: unknown) => string | undefined,
): AsyncGenerator<{ id: string | undefined; entry: unknown }, void> {
  const seen = new Set<string>();
  let position = first;
  for (let pages = 1; ; pages += 1) {
    const { entries, next } = await getPage(position);
    const fresh = entries.map((entry) => ({ id: idOf(entry), entry })).filter(({ id }) => isFresh(id, seen));
    yield* fresh;
    if (next === undefined) return;
    const repeats = JSON.stringify(next) === JSON.stringify(position);
    if (repeats || (entries.length > 0 && fresh.length === 0) || pages === MAX_PAGES)
      throw new TransferError(`The list of ${server} does not end: a page is repeated. Try again later.`);
    position = next;
  }
}

/** Records an id. An entry without one is reported later, by who reads the entry. */
function isFresh(id: string | undefined, seen: Set<string>): boolean {
  if (id === undefined) return true;
  if (seen.has(id)) return false;
  seen.add(id);
  return true;
}
