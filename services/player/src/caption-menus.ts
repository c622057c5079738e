import { MediaChromeMenu } from 'media-chrome/dist/menu/media-chrome-menu.js';
import {
  type CaptionStyle,
  COLOURS,
  captionStyleIn,
  cueRules,
  DEFAULT_STYLE,
  SIZES,
} from './caption-style.ts';
import { showChoices } from './choices.ts';
import { keep, readKept } from './kept-values.ts';

const KEY = 'framelane.captions';

/**
 * Fills the menus for the style of captions, and applies what is chosen until `signal` aborts. With `remember` the choice is stored. The style sheet is adopted:
 * the Content-Security-Policy allows no other that is made in the page.
 */
export function styleCaptions(
  root: HTMLElement,
  media: HTMLElement,
  remember: boolean,
  signal: AbortSignal,
): void {
  let style = remember ? captionStyleIn(readKept(KEY)) : DEFAULT_STYLE;
  const sheet = new CSSStyleSheet();
  const scope = media.shadowRoot ?? document;
  scope.adoptedStyleSheets.push(sheet);
  signal.addEventListener('abort', () => {
    scope.adoptedStyleSheets = scope.adoptedStyleSheets.filter((each) => each !== sheet);
  });
  sheet.replaceSync(cueRules(style));
  const choose = (part: Partial<CaptionStyle>) => {
    style = { ...style, ...part };
    sheet.replaceSync(cueRules(style));
    if (remember) keep(KEY, style);
  };
  const menu = (name: string) => root.querySelector(`.${name} > media-chrome-menu`);
  const [sizes, colours] = [menu('caption-size'), menu('caption-colours')];
  if (sizes instanceof MediaChromeMenu) showChoices(sizes, SIZES, style.size, (size) => choose({ size }));
  if (colours instanceof MediaChromeMenu) {
    showChoices(colours, COLOURS, style.colours, (value) => choose({ colours: value }));
  }
}
