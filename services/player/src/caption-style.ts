import type { Choice } from './choices.ts';

/** How the viewer wants captions. The values are those of `SIZES` and `COLOURS`. */
export type CaptionStyle = { size: string; colours: string };

/** The default of browsers. */
export const DEFAULT_STYLE: CaptionStyle = { size: '1', colours: 'standard' };

/** Sizes of the text. The values are factors. */
export const SIZES: readonly Choice[] = [
  { name: 'Small', value: '0.75' },
  { name: 'Normal', value: '1' },
  { name: 'Large', value: '1.5' },
  { name: 'Very large', value: '2' },
];

const COLOUR_RULES: Record<string, { name: string; rule: string }> = {
  standard: { name: 'White on grey', rule: '' },
  'white-on-black': { name: 'White on black', rule: 'color: #fff; background: #000;' },
  'yellow-on-black': { name: 'Yellow on black', rule: 'color: #ff0; background: #000;' },
  'black-on-white': { name: 'Black on white', rule: 'color: #000; background: #fff;' },
  outline: {
    name: 'White with an outline',
    rule: 'color: #fff; background: transparent; text-shadow: 0 0 3px #000, 0 0 3px #000, 0 0 3px #000, 1px 1px 2px #000;',
  },
};

/** Colours of text and background. */
export const COLOURS: readonly Choice[] = Object.entries(COLOUR_RULES).map(([value, { name }]) => ({
  name,
  value,
}));

/** The style sheet that shows captions in a style. */
export function cueRules({ size, colours }: CaptionStyle): string {
  const scale = size === DEFAULT_STYLE.size ? '' : `font-size: ${size}em;`;
  const rules = [scale, COLOUR_RULES[colours]?.rule].filter(Boolean).join(' ');
  return rules === '' ? '' : `video::cue { ${rules} }`;
}

/** The style in a stored value, with the default for what is missing or unknown. */
export function captionStyleIn(value: unknown): CaptionStyle {
  const { size, colours } = Object(value);
  const known = (choices: readonly Choice[], chosen: unknown, otherwise: string) =>
    choices.find((each) => each.value === chosen)?.value ?? otherwise;
  return {
    size: known(SIZES, size, DEFAULT_STYLE.size),
    colours: known(COLOURS, colours, DEFAULT_STYLE.colours),
  };
}
