import { CliError } from '../../cli-error.ts';
import type { BrokenItem, LibraryItem } from '../library-item.ts';

/**
 * Turns an entry of a list into an item. An entry that cannot be read becomes a broken item, so that it does not end the list. `source` is that
 * of the id, such as `mux`.
 */
export function readEntry(
  source: string,
  id: string | undefined,
  read: () => LibraryItem,
): LibraryItem | BrokenItem {
  const name = `${source}:${id ?? '(an entry without an id)'}`;
  try {
    return read();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { id: name, name, error };
  }
}
