import MiniSearch from 'minisearch';
import { findEntries, SEARCH_OPTIONS, type SearchEntry, type SearchResult } from './search-options.ts';

type Elements = {
  button: HTMLButtonElement;
  dialog: HTMLDialogElement;
  query: HTMLInputElement;
  results: HTMLElement;
  status: HTMLElement;
};

/** The search dialog. It loads the index from `indexUrl` when it is first opened. `urlOf` is the address of an entry. */
export class Search {
  readonly #elements: Elements;
  readonly #indexUrl: string;
  readonly #urlOf: (id: string) => string;
  #index: Promise<MiniSearch<SearchEntry>> | undefined;

  constructor(elements: Elements, indexUrl: string, urlOf: (id: string) => string) {
    this.#elements = elements;
    this.#indexUrl = indexUrl;
    this.#urlOf = urlOf;
    const { button, dialog, query } = elements;
    button.addEventListener('click', () => this.#open());
    query.addEventListener('input', () => void this.#search());
    dialog.addEventListener('keydown', (event) => this.#onKey(event));
    // A click beside the dialog closes it.
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog) dialog.close();
    });
    addEventListener('keydown', (event) => {
      if (!opensSearch(event)) return;
      event.preventDefault();
      this.#open();
    });
    button.hidden = false;
  }

  #open(): void {
    const { dialog, query } = this.#elements;
    if (!dialog.open) dialog.showModal();
    query.select();
    void this.#search();
  }

  async #search(): Promise<void> {
    const { query, results, status } = this.#elements;
    const words = query.value.trim();
    try {
      const index = await this.#load();
      // Another character was typed while the index was loaded.
      if (words !== query.value.trim()) return;
      const found = words === '' ? [] : findEntries(index, words);
      results.replaceChildren(...found.map((each) => this.#item(each)));
      status.textContent = words === '' ? '' : resultWords(found.length);
    } catch {
      status.textContent =
        'The search index could not be loaded. Close the search and open it again to retry.';
    }
  }

  #load(): Promise<MiniSearch<SearchEntry>> {
    this.#index ??= fetch(this.#indexUrl)
      .then(async (response) => {
        if (!response.ok) throw new Error(`Status ${response.status}`);
        return MiniSearch.loadJSON(await response.text(), SEARCH_OPTIONS);
      })
      .catch((error: unknown) => {
        this.#index = undefined;
        throw error;
      });
    return this.#index;
  }

  #item({ id, title, page, excerpt }: SearchResult): HTMLElement {
    const link = document.createElement('a');
    link.href = this.#urlOf(id);
    link.append(line('small', page), line('strong', title), line('span', excerpt));
    // The page may be the one that is open.
    link.addEventListener('click', () => this.#elements.dialog.close());
    const item = document.createElement('li');
    item.append(link);
    return item;
  }

  /** Arrow keys go through the field and the results. Enter in the field opens the first result. */
  #onKey(event: KeyboardEvent): void {
    const { query, results } = this.#elements;
    const stops: HTMLElement[] = [query, ...results.querySelectorAll('a')];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    if (event.key === 'ArrowDown') stops[at + 1]?.focus();
    else if (event.key === 'ArrowUp') stops[at - 1]?.focus();
    else if (event.key === 'Enter' && at === 0) stops[1]?.click();
    else return;
    event.preventDefault();
  }
}

/** `/` outside of fields, and Ctrl-K or Cmd-K anywhere. */
function opensSearch(event: KeyboardEvent): boolean {
  if (event.key === 'k' && (event.ctrlKey || event.metaKey)) return true;
  const isTyping =
    event.target instanceof HTMLElement && event.target.closest('input, textarea, select') !== null;
  return event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
}

function resultWords(count: number): string {
  return count === 0 ? 'Nothing found.' : count === 1 ? '1 result' : `${count} results`;
}

function line(name: string, text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}
