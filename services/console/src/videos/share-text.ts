/** The longer side of the player in a site, in pixels. */
const LONGER_SIDE = 640;

type Shape = { width: number | null; height: number | null };

/** HTML that shows the player page in a site, in the shape of the video if that is known. */
export function playerHtml(url: string, title: string, shape: Shape): string {
  const [source, name] = [url, title].map((text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;'));
  const { width, height } = sizeOf(shape);
  return `<iframe src="${source}"
  title="${name}" width="${width}" height="${height}" style="border:0"
  allow="autoplay; fullscreen; picture-in-picture"></iframe>`;
}

function sizeOf({ width, height }: Shape): { width: number; height: number } {
  const [across, down] = width === null || height === null ? [16, 9] : [width, height];
  const scale = LONGER_SIDE / Math.max(across, down);
  return { width: Math.round(across * scale), height: Math.round(down * scale) };
}

/** How long a playback link can be valid: seconds and words. */
export const LIFETIMES = [
  { value: '3600', label: '1 hour' },
  { value: '21600', label: '6 hours' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];
