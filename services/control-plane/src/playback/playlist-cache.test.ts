import { expect, jest, test } from '@jest/globals';
import { withToken } from './playback-token.ts';
import { PlaylistCache } from './playlist-cache.ts';

const render = (text: string) =>
  jest.fn(async (token: string) => `${withToken('a.m3u8', token)}\n${withToken('key', token)}\n${text}\n`);

test('a playlist is rendered once for all viewers, and each viewer gets their own token', async () => {
  const cache = new PlaylistCache();
  const playlist = { videoId: 'vid_1', version: 0, name: 'master' };
  const rendered = render('one');
  expect(await cache.get(playlist, 'a.b.c', rendered)).toBe('a.m3u8?token=a.b.c\nkey?token=a.b.c\none\n');
  expect(await cache.get(playlist, 'd.e.f', rendered)).toBe('a.m3u8?token=d.e.f\nkey?token=d.e.f\none\n');
  expect(await cache.get(playlist, undefined, rendered)).toBe('a.m3u8\nkey\none\n');
  expect(rendered).toHaveBeenCalledTimes(1);
});

test.each([{ videoId: 'vid_2' }, { version: 1 }, { name: '360p' }])(
  '%j is another playlist',
  async (other) => {
    const cache = new PlaylistCache();
    const playlist = { videoId: 'vid_1', version: 0, name: 'master' };
    await cache.get(playlist, undefined, render('one'));
    expect(await cache.get({ ...playlist, ...other }, undefined, render('two'))).toContain('two');
  },
);

test('a playlist that cannot be rendered is not cached', async () => {
  const cache = new PlaylistCache();
  const playlist = { videoId: 'vid_1', version: 0, name: 'master' };
  const failed = cache.get(playlist, undefined, () => Promise.reject(new Error('no video')));
  await expect(failed).rejects.toThrow('no video');
  expect(await cache.get(playlist, undefined, render('one'))).toContain('one');
});
