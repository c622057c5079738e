import { expect, test } from '@jest/globals';
import { embedUrl, type FrameOptions, frameUrl } from './frame-url.ts';

const NOTHING: FrameOptions = {
  src: null,
  baseUrl: null,
  workspaceId: null,
  videoId: null,
  token: null,
  start: null,
  color: null,
  autoplay: false,
  muted: false,
  loop: false,
};
const EMBED = 'https://video.example.com/v1/embed/ws_1/vid_1';

test('a video is an embed URL, or three parts of it', () => {
  expect(embedUrl(NOTHING)).toBeUndefined();
  expect(embedUrl({ ...NOTHING, src: EMBED })?.href).toBe(EMBED);
  const parts = { workspaceId: 'ws_1', videoId: 'vid_1' };
  for (const baseUrl of ['https://video.example.com/v1', 'https://video.example.com/v1/'])
    expect(embedUrl({ ...NOTHING, ...parts, baseUrl })?.href).toBe(EMBED);
  const strange = { workspaceId: 'ws/1', videoId: '../x', baseUrl: 'https://video.example.com/v1' };
  expect(embedUrl({ ...NOTHING, ...strange })?.pathname).toBe('/v1/embed/ws%2F1/..%2Fx');
});

test.each(['javascript:alert(1)', 'data:text/html,x', '/v1/embed/ws_1/vid_1', 'vid_1'])(
  'the URL %s is refused',
  (src) => expect(() => embedUrl({ ...NOTHING, src })).toThrow('src must be a whole URL'),
);

test.each([['baseUrl'], ['workspaceId'], ['videoId']] as const)(
  'a video without %s is refused',
  (missing) => {
    const video = {
      ...NOTHING,
      baseUrl: 'https://video.example.com/v1',
      workspaceId: 'ws_1',
      videoId: 'vid_1',
    };
    expect(() => embedUrl({ ...video, [missing]: null })).toThrow(
      'all of base-url, workspace-id and video-id',
    );
  },
);

test('the error names the attribute, and http is a scheme for videos', () => {
  const video = { ...NOTHING, workspaceId: 'ws_1', videoId: 'vid_1' };
  expect(() => embedUrl({ ...video, baseUrl: '/v1' })).toThrow('base-url must be a whole URL');
  const local = 'http://localhost:8080/v1';
  expect(embedUrl({ ...video, baseUrl: local })?.href).toBe(`${local}/embed/ws_1/vid_1`);
});

test('the options are parameters, beside those of the URL', () => {
  const page = new URL(`${EMBED}?color=fff&muted=1`);
  expect(frameUrl(page, NOTHING)).toBe(page.href);
  const options = { ...NOTHING, token: 'a b', start: '90', color: 'ff6600', autoplay: true, loop: true };
  expect(frameUrl(new URL(EMBED), options)).toBe(
    `${EMBED}?token=a+b&start=90&color=ff6600&autoplay=1&loop=1`,
  );
  expect(frameUrl(page, { ...NOTHING, color: 'ff6600', muted: true })).toBe(`${EMBED}?color=ff6600&muted=1`);
});
