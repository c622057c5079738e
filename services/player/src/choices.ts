import {
  createIndicator,
  createMenuItem,
  type MediaChromeMenu,
} from 'media-chrome/dist/menu/media-chrome-menu.js';

/** An entry of a menu of which one is chosen. */
export type Choice = { name: string; value: string };

/** Fills a menu with choices, and calls `onChoice` with the value of each that is chosen. */
export function showChoices(
  menu: MediaChromeMenu,
  choices: readonly Choice[],
  chosen: string,
  onChoice: (value: string) => void,
): void {
  const items = choices.map(({ name, value }) => {
    const item = createMenuItem({ type: 'radio', text: name, value, checked: value === chosen });
    item.prepend(createIndicator(menu, 'checked-indicator'));
    return item;
  });
  menu.defaultSlot.replaceChildren(...items);
  menu.addEventListener('change', () => onChoice(menu.value));
}
