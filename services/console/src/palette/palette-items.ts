import { paths } from '../paths.ts';
import type { Permission } from '../sign-in/session.ts';
import type { Icon } from '../ui/icon.ts';

/** Something that the palette opens or does. */
export type PaletteItem = {
  id: string;
  group: 'Pages' | 'Actions' | 'Videos';
  name: string;
  /** Other words by which it is found. */
  keywords?: string;
  /** What tells it from others of the same name, such as the status of a video. */
  hint?: string;
  Icon: Icon;
  run: () => void;
};

/** The items whose names have all words of a text, in any order. */
export function withWords<Each>(
  items: readonly Each[],
  text: string,
  nameOf: (item: Each) => string,
): Each[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter((item) => words.every((word) => nameOf(item).toLowerCase().includes(word)));
}

/** The items whose names have all words of a text, then those that need their keywords for that. */
export function matching<Each extends Pick<PaletteItem, 'name' | 'keywords'>>(
  items: readonly Each[],
  text: string,
): Each[] {
  const named = withWords(items, text, ({ name }) => name);
  const all = withWords(items, text, ({ name, keywords = '' }) => `${name} ${keywords}`);
  return [...named, ...all.filter((item) => !named.includes(item))];
}

/** The index after a key in a list of this length, from one end to the other; undefined if the key moves nothing. */
export function moved(index: number, key: string, length: number): number | undefined {
  if (length === 0) return undefined;
  switch (key) {
    case 'ArrowDown':
      return (index + 1) % length;
    case 'ArrowUp':
      return (index - 1 + length) % length;
    case 'PageDown':
      return length - 1;
    case 'PageUp':
      return 0;
    default:
      return undefined;
  }
}

/** The id of a video that a text is; undefined for any other text. */
export function videoIdIn(text: string): string | undefined {
  return /^vid_[0-7][0-9a-hjkmnp-tv-z]{25}$/.exec(text.trim())?.[0];
}

/** The page of the id that a text is, with the permission that the page needs; undefined for other texts, and for the id of a video. */
export function pageOfId(text: string): { name: string; path: string; needs: Permission } | undefined {
  const id = text.trim();
  switch (/^(whk|log|req)_[0-7][0-9a-hjkmnp-tv-z]{25}$/.exec(id)?.[1]) {
    case 'whk':
      return { name: `Webhook ${id}`, path: paths.webhook(id), needs: 'webhooks:read' };
    case 'log':
      return { name: `Request ${id}`, path: paths.request(id), needs: 'requests:read' };
    // Clients can choose it, so several requests can have it.
    case 'req':
      return { name: `Requests ${id}`, path: `${paths.requests}?requestId=${id}`, needs: 'requests:read' };
    default:
      return undefined;
  }
}
