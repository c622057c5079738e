/** HTML that shows the player page in a site. */
export function playerHtml(url: string, title: string): string {
  const [source, name] = [url, title].map((text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;'));
  return `<iframe src="${source}" title="${name}" width="640" height="360" style="border:0" allow="autoplay; fullscreen; picture-in-picture"></iframe>`;
}

/** How long a playback link can be valid: seconds and words. */
export const LIFETIMES = [
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];
