import type { Video } from '@framelane/client';
import { playerHtml } from './share-text.ts';

export const LANGUAGES = ['html', 'react', 'hls', 'curl', 'node'] as const;
export type Language = (typeof LANGUAGES)[number];

export const LANGUAGE_NAMES: Record<Language, string> = {
  html: 'HTML',
  react: 'React',
  hls: 'hls.js',
  curl: 'curl',
  node: 'Node',
};

/** What the code of a signed video has in place of a token, which expires. */
export const TOKEN = 'PLAYBACK_TOKEN';

type Shown = Pick<
  Video,
  'id' | 'workspaceId' | 'title' | 'embed' | 'hls' | 'preview' | 'playbackPolicy' | 'width' | 'height'
>;

/** Code that shows a video, or reads its record; undefined while there is none, because the video has no stream. `apiUrl` ends in `/v1`. */
export function snippetOf(language: Language, video: Shown, apiUrl: string): string | undefined {
  switch (language) {
    case 'html':
      return playerHtml(withToken(video.embed, video), video.title, video);
    case 'react':
      return reactSnippet(video);
    case 'hls':
      return hlsSnippet(video);
    case 'curl':
      return curlSnippet(video, apiUrl);
    case 'node':
      return nodeSnippet(video, apiUrl);
  }
}

function isSigned({ playbackPolicy }: Shown): boolean {
  return playbackPolicy === 'signed';
}

function withToken(url: string, video: Shown): string {
  return isSigned(video) ? `${url}?token=${TOKEN}` : url;
}

function reactSnippet(video: Shown): string {
  const { embed, title, width, height } = video;
  const lines = [
    `src="${embed}"`,
    ...(isSigned(video) ? ['token={token}'] : []),
    `title=${jsxText(title)}`,
    ...(width !== null && height !== null ? [`aspectRatio="${width}/${height}"`] : []),
  ];
  return `import { FramelanePlayer } from '@framelane/elements/react';

export function Player(${isSigned(video) ? '{ token }' : ''}) {
  return (
    <FramelanePlayer
${lines.map((line) => `      ${line}`).join('\n')}
    />
  );
}
`;
}

/** An attribute of JSX, in which a text has no escapes. */
function jsxText(text: string): string {
  return /^[^"&\n\r]*$/.test(text) ? `"${text}"` : `{${JSON.stringify(text)}}`;
}

function hlsSnippet(video: Shown): string | undefined {
  const url = video.hls ?? video.preview?.hls;
  if (url === undefined) return undefined;
  return `import Hls from 'hls.js';

const url = '${withToken(url, video)}';
const video = document.createElement('video');
video.controls = true;
document.body.append(video);

if (Hls.isSupported()) {
  const hls = new Hls();
  hls.loadSource(url);
  hls.attachMedia(video);
} else {
  video.src = url; // Safari on iPhones plays HLS itself
}
`;
}

function curlSnippet(video: Shown, apiUrl: string): string {
  const { id, workspaceId } = video;
  const [path, body] = isSigned(video)
    ? ['/playback-tokens', ` \\\n  -H 'Content-Type: application/json' -d '{"expiresIn":3600}'`]
    : ['', ''];
  return `curl "${apiUrl}/videos/${id}${path}" \\
  -H "Authorization: Bearer $FRAMELANE_API_KEY" -H 'X-Svc-Workspace: ${workspaceId}'${body}
`;
}

function nodeSnippet(video: Shown, apiUrl: string): string {
  const { id, workspaceId } = video;
  const use = isSigned(video)
    ? `const { token, expiresAt } = await framelane.videos.createPlaybackToken('${id}', { expiresIn: 3600 });
console.log(token, expiresAt);`
    : `const video = await framelane.videos.get('${id}');
console.log(video.title, video.status, video.hls);`;
  return `import { createClient } from '@framelane/client';

const framelane = createClient({
  baseUrl: '${apiUrl}',
  apiKey: process.env.FRAMELANE_API_KEY,
  workspaceId: '${workspaceId}',
});

${use}
`;
}
