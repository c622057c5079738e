import type { IncomingHttpHeaders } from 'node:http';

/** The kinds of devices that are told apart. */
export type Device = 'desktop' | 'phone' | 'tablet' | 'tv' | 'other';

/** Longer User-Agent headers are read to here. */
const READ_CHARACTERS = 512;

/**
 * Words of User-Agent headers, the first match wins. Tablets with Android say no "Mobile"; televisions say Android, too. iPads say that they are
 * Macs and count as desktops.
 */
const DEVICES: readonly [RegExp, Device][] = [
  [/\bTV\b|SmartTV|AppleTV|BRAVIA|Roku|Web0S|PlayStation|Xbox/i, 'tv'],
  [/iPad|Tablet/i, 'tablet'],
  [/iPhone|iPod|Mobi/i, 'phone'],
  [/Android/i, 'tablet'],
  [/Windows|Macintosh|X11|CrOS|Linux/i, 'desktop'],
];

/** Whether a viewer refuses to be counted: Global Privacy Control, or Do Not Track. */
export function refusesCounting(headers: IncomingHttpHeaders): boolean {
  return headers['sec-gpc'] === '1' || headers.dnt === '1';
}

/** The kind of device, from the client hint if the browser sends it, otherwise from the User-Agent. */
export function deviceOf(headers: IncomingHttpHeaders): Device {
  const userAgent = (headers['user-agent'] ?? '').slice(0, READ_CHARACTERS);
  const found = DEVICES.find(([words]) => words.test(userAgent))?.[1] ?? 'other';
  return found === 'desktop' && headers['sec-ch-ua-mobile'] === '?1' ? 'phone' : found;
}

/** The country that a header of a proxy names, as two letters of ISO 3166-1; null without a header, and for codes that name no country. */
export function countryOf(headers: IncomingHttpHeaders, headerName: string | undefined): string | null {
  const value = headerName === undefined ? undefined : headers[headerName];
  const code = typeof value === 'string' && /^[a-z]{2}$/i.test(value) ? value.toUpperCase() : null;
  // Cloudflare sends XX if it does not know the country.
  return code === 'XX' ? null : code;
}
