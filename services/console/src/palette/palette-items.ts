import type { Icon } from '../ui/icon.ts';

/** Something that the palette opens or does. */
export type PaletteItem = {
  id: string;
  group: 'Pages' | 'Actions' | 'Videos';
  name: string;
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
