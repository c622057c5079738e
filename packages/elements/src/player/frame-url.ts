/** What the attributes of a player say about the page in its frame. */
export type FrameOptions = {
  /** The `embed` URL of a video. */
  src: string | null;
  /** The URL of the API, for example https://video.example.com/v1. With the two ids, it replaces `src`. */
  baseUrl: string | null;
  workspaceId: string | null;
  videoId: string | null;
  token: string | null;
  start: string | null;
  color: string | null;
  autoplay: boolean;
  muted: boolean;
  loop: boolean;
};

/** The URL of the player page without options, or undefined without a video. Throws a TypeError that says what is wrong. */
export function embedUrl({ src, baseUrl, workspaceId, videoId }: FrameOptions): URL | undefined {
  if (src) return httpUrl('src', src);
  if (!videoId && !baseUrl && !workspaceId) return undefined;
  if (!videoId || !baseUrl || !workspaceId)
    throw new TypeError('Set src, or all of base-url, workspace-id and video-id.');
  const path = [workspaceId, videoId].map(encodeURIComponent).join('/');
  return httpUrl('base-url', `${baseUrl.replace(/\/$/, '')}/embed/${path}`);
}

/** The URL that the frame loads: the page of the video with the options. */
export function frameUrl(page: URL, options: FrameOptions): string {
  const url = new URL(page);
  for (const name of ['token', 'start', 'color'] as const) {
    const value = options[name];
    if (value) url.searchParams.set(name, value);
  }
  for (const name of ['autoplay', 'muted', 'loop'] as const) {
    if (options[name]) url.searchParams.set(name, '1');
  }
  return url.href;
}

/** Other schemes, such as `javascript:`, would run code of the one who wrote the URL. */
function httpUrl(attribute: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url;
  throw new TypeError(`${attribute} must be a whole URL that begins with https:// or http://.`);
}
