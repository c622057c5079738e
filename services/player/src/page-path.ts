/** The path of the page of a video. It may be requested with a final slash. */
export function pagePath({ pathname }: Pick<URL, 'pathname'>): string {
  return pathname.replace(/\/$/, '');
}
