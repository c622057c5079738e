import { parseTypedTime, UNREADABLE_TIME } from '../ui/typed-time.ts';

/** What the player page in a site does: the options of docs/embed.md, as they are chosen. */
export type EmbedOptions = {
  autoplay: boolean;
  muted: boolean;
  loop: boolean;
  remember: boolean;
  /** As typed, such as `1:02.5`; empty for the beginning. */
  start: string;
  /** Six hexadecimal digits after `#`; null for the colour of the player. */
  color: string | null;
};

/** The switches, in the order in which the page shows them. */
export const EMBED_SWITCHES = ['autoplay', 'muted', 'loop', 'remember'] as const;

export const NO_OPTIONS: EmbedOptions = {
  autoplay: false,
  muted: false,
  loop: false,
  remember: false,
  start: '',
  color: null,
};

/** What is wrong with the typed start, or undefined. */
export function startError({ start }: EmbedOptions): string | undefined {
  return start.trim() !== '' && parseTypedTime(start) === undefined ? UNREADABLE_TIME : undefined;
}

/** The URL of a player page with options. An unreadable start is left out. */
export function withOptions(page: string, options: EmbedOptions): string {
  const url = new URL(page);
  for (const name of EMBED_SWITCHES) if (options[name]) url.searchParams.set(name, '1');
  const start = parseTypedTime(options.start);
  if (start !== undefined) url.searchParams.set('start', String(start));
  if (options.color !== null) url.searchParams.set('color', options.color.slice(1));
  return url.href;
}
