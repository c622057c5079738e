import { expect, test } from '@jest/globals';
import { forgetUploads, isFileOf, type StoredUpload, StoredUploads } from './stored-uploads.ts';

function emptyStore() {
  const entries = new Map<string, string>();
  return {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => void entries.set(key, value),
    removeItem: (key: string) => void entries.delete(key),
    key: (index: number) => [...entries.keys()][index] ?? null,
    get length() {
      return entries.size;
    },
  };
}

const upload: StoredUpload = {
  videoId: 'vid_1',
  uploadUrl: 'http://engine/upload',
  tusUrl: 'http://engine/files',
  uploadToken: 'secret',
  name: 'a.mp4',
  size: 10,
  modified: 1,
  sent: 0,
};

test('an upload is stored until it is removed, in its workspace and environment', () => {
  const store = emptyStore();
  store.setItem('other', 'x');
  const [live, sandbox] = ['live', 'test'].map(
    (environment) => new StoredUploads(store, { workspaceId: 'ws_1', environment }),
  ) as [StoredUploads, StoredUploads];
  live.add(upload);
  live.add({ ...upload, videoId: 'vid_2' });
  live.progress('vid_1', 7);
  expect(live.all()).toEqual([
    { ...upload, sent: 7 },
    { ...upload, videoId: 'vid_2' },
  ]);
  expect(sandbox.all()).toEqual([]);
  live.remove('vid_1');
  expect(live.get('vid_1')).toBeUndefined();
  forgetUploads(store);
  expect(live.all()).toEqual([]);
  expect(store.length).toBe(1);
});

test('progress does not bring back an upload that was forgotten', () => {
  const store = emptyStore();
  new StoredUploads(store, { workspaceId: 'ws_1', environment: 'live' }).progress('vid_1', 7);
  expect(store.length).toBe(0);
});

test('a full store keeps nothing', () => {
  const setItem = () => {
    throw new DOMException('full', 'QuotaExceededError');
  };
  const stored = new StoredUploads(
    { ...emptyStore(), setItem },
    { workspaceId: 'ws_1', environment: 'live' },
  );
  stored.add(upload);
  expect(stored.all()).toEqual([]);
});

test('name, size and time of modification identify a file', () => {
  const file = { name: 'a.mp4', size: 10, lastModified: 1 };
  expect(isFileOf(upload, file)).toBe(true);
  for (const other of [{ name: 'b.mp4' }, { size: 11 }, { lastModified: 2 }]) {
    expect(isFileOf(upload, { ...file, ...other })).toBe(false);
  }
});
