/** The options in the query of the page's URL. */
export type Options = {
  token: string | undefined;
  autoplay: boolean;
  muted: boolean;
  loop: boolean;
  /** Whether the browser keeps where the viewer leaves the video, and the style of captions. */
  remember: boolean;
  /** Seconds. */
  start: number | undefined;
  /** A CSS colour. */
  color: string | undefined;
};

/** Reads the query. Invalid values count as absent, because viewers cannot correct them. */
export function readOptions(query: string): Options {
  const parameters = new URLSearchParams(query);
  const isOn = (name: string) => ['', '1', 'true', 'yes'].includes(parameters.get(name) ?? 'no');
  const start = Number(parameters.get('start') || Number.NaN);
  const color = parameters.get('color')?.replace(/^#/, '');
  return {
    token: parameters.get('token') ?? undefined,
    autoplay: isOn('autoplay'),
    muted: isOn('muted'),
    loop: isOn('loop'),
    remember: isOn('remember'),
    start: Number.isFinite(start) && start >= 0 ? start : undefined,
    color: color !== undefined && /^([\da-f]{3}|[\da-f]{6})$/i.test(color) ? `#${color}` : undefined,
  };
}
