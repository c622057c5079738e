/** The values of each WebVTT cue setting (W3C WebVTT §4.4). `region` is left out, because Framelane removes the definitions of regions. */
const VALUES: ReadonlyMap<string, RegExp> = new Map([
  ['vertical', /^(rl|lr)$/],
  ['line', /^(-?\d{1,4}|\d{1,3}(\.\d{1,6})?%)(,(start|center|end))?$/],
  ['position', /^\d{1,3}(\.\d{1,6})?%(,(line-left|center|line-right))?$/],
  ['size', /^\d{1,3}(\.\d{1,6})?%$/],
  ['align', /^(start|center|end|left|right)$/],
]);

/** The settings that players know, each once. Others are dropped, as players do. */
export function normalizeSettings(settings: string): string {
  const known = new Map<string, string>();
  for (const setting of settings.split(/\s+/)) {
    const [name = '', ...rest] = setting.split(':');
    const value = rest.join(':');
    const percent = /^[\d.]+(?=%)/.exec(value);
    if (VALUES.get(name)?.test(value) && Number(percent ?? 0) <= 100) known.set(name, value);
  }
  return [...known].map(([name, value]) => `${name}:${value}`).join(' ');
}

/** The settings for the position code of SubRip. Its digits are placed as on a numeric keypad: `{\an8}` is the middle of the top. */
export function settingsOfPosition(text: string): string {
  const [, digit] = /\{\\an([1-9])\}/.exec(text) ?? [];
  if (digit === undefined) return '';
  const at = Number(digit) - 1;
  const line = ['', 'line:50%', 'line:0'][Math.floor(at / 3)];
  const align = ['align:left', '', 'align:right'][at % 3];
  return [line, align].filter(Boolean).join(' ');
}
