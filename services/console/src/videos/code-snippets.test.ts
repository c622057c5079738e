import { expect, test } from '@jest/globals';
import { LANGUAGES, type Language, snippetOf } from './code-snippets.ts';

const API = 'https://video.example.com/v1';
const VIDEO = {
  id: 'vid_1',
  workspaceId: 'ws_1',
  title: 'Summer campaign',
  embed: `${API}/embed/ws_1/vid_1`,
  hls: `${API}/hls/ws_1/vid_1/master.m3u8`,
  preview: null,
  playbackPolicy: 'public',
  width: 1080,
  height: 1920,
} as const;

const snippet = (language: Language, changed: object = {}) =>
  snippetOf(language, { ...VIDEO, ...changed }, API) ?? '';

test('each language has the ids of the video, and nothing to replace', () => {
  for (const language of LANGUAGES) {
    const code = snippet(language);
    expect(code).toContain('vid_1');
    expect(code).toContain('ws_1');
    expect(code).not.toMatch(/TOKEN|undefined|…/);
  }
});

test('of a signed video the pages take a token, and the programs create one', () => {
  const signed = { playbackPolicy: 'signed' };
  expect(snippet('html', signed)).toContain(`src="${VIDEO.embed}?token=PLAYBACK_TOKEN"`);
  expect(snippet('react', signed)).toContain('function Player({ token })');
  expect(snippet('react', signed)).toContain('token={token}');
  expect(snippet('hls', signed)).toContain(`'${VIDEO.hls}?token=PLAYBACK_TOKEN'`);
  expect(snippet('curl', signed)).toMatch(
    /^curl "\S+\/videos\/vid_1\/playback-tokens" [\s\S]*'\{"expiresIn":3600\}'\n$/,
  );
  expect(snippet('node', signed)).toContain("createPlaybackToken('vid_1', { expiresIn: 3600 })");
});

test('a component has the shape of the video, once that is known', () => {
  expect(snippet('react')).toContain('aspectRatio="1080/1920"');
  expect(snippet('react', { width: null, height: null })).not.toContain('aspectRatio');
});

test.each([
  ['Summer', 'title="Summer"'],
  ["It's {here} \\ <b>", 'title="It\'s {here} \\ <b>"'],
  ['A "B"', 'title={"A \\"B\\""}'],
  ['A & B', 'title={"A & B"}'],
])('the title %j in JSX', (title, attribute) => {
  expect(snippet('react', { title })).toContain(`      ${attribute}\n`);
});

test('the stream is that of the preview, until the video is ready', () => {
  const hls = `${API}/hls/ws_1/vid_1/preview/master.m3u8`;
  expect(snippet('hls', { hls: undefined, preview: { hls, variants: [] } })).toContain(`'${hls}'`);
  const { hls: _, ...withoutStream } = VIDEO;
  expect(snippetOf('hls', withoutStream, API)).toBeUndefined();
});
