import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  statfs,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { requires } from '@framelane/test-kit/requires';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { FileObjectStore } from '../src/file-object-store.ts';
import { objectStoreContract } from './object-store.contract.ts';

const never = new AbortController().signal;
let root: string;
let store: FileObjectStore;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'file-store-'));
  store = new FileObjectStore(join(root, 'objects'));
});

afterEach(() => rm(root, { recursive: true }));

objectStoreContract('FileObjectStore', {
  create: async () => new FileObjectStore(join(root, 'objects')),
  dispose: async () => {},
});

const put = (key: string, content = key) => store.put(key, Buffer.from(content), 'text/plain');

test('an object is a plain file under its key', async () => {
  await put('a/b/c.ts', 'content');
  expect(await readFile(join(root, 'objects/a/b/c.ts'), 'utf8')).toBe('content');
});

test('fetches by a hard link where possible, and keeps the entity tag', async () => {
  await put('a/b');
  const before = await store.head('a/b');
  await store.fetchToFile('a/b', join(root, 'source'), never);
  expect((await stat(join(root, 'source'))).nlink).toBe(2);
  expect(await store.fetchesAsLinks(root)).toBe(true);
  expect(await store.head('a/b')).toEqual(before);
});

test('reads neither a symbolic link nor a FIFO', async () => {
  await put('a/b');
  await symlink('b', join(root, 'objects/a/link'));
  execFileSync('mkfifo', [join(root, 'objects/a/fifo')]);
  for (const key of ['a/link', 'a/fifo']) await expect(store.get(key)).rejects.toThrow();
});

test('with refusesLinks, no method reaches what a symbolic link leads to', async () => {
  await writeFile(join(root, 'outside'), 'outside');
  await mkdir(join(root, 'elsewhere/v'), { recursive: true });
  await writeFile(join(root, 'elsewhere/v/file'), 'outside');
  await put('a/b');
  const links: [string, string, string][] = [
    ['../../outside', 'a/link', 'a/link'],
    ['../../elsewhere', 'a/folder', 'a/folder/v/file'],
  ];
  const strict = new FileObjectStore(join(root, 'objects'), { refusesLinks: true });
  for (const [target, link, key] of links) {
    const path = join(root, 'objects', link);
    await symlink(target, path);
    const body = Readable.from([Buffer.from('x')]);
    for (const access of [
      () => strict.get(key),
      () => strict.head(key),
      () => strict.put(key, Buffer.from('x'), ''),
      () => strict.putStream(key, body, { contentType: '' }),
      () => strict.fetchToFile(key, join(root, 'copy'), never),
      () => strict.delete([key]),
      () => strict.deletePrefix(`${link}/`),
      () => Array.fromAsync(strict.list('a/')),
    ]) {
      await expect(access()).rejects.toThrow(`${path} is a symbolic link.`);
    }
    expect(body.destroyed).toBe(true);
    await rm(path);
  }
  const names = await readdir(join(root, 'elsewhere/v'));
  expect([names, await readFile(join(root, 'outside'), 'utf8')]).toEqual([['file'], 'outside']);
  expect(await Array.fromAsync(strict.list('a/'))).toMatchObject([{ key: 'a/b' }]);
});

test('with refusesLinks, unfinished objects are not behind a symbolic link, but the root may be', async () => {
  await put('a/b');
  await mkdir(join(root, 'elsewhere'));
  await symlink('objects', join(root, 'alias'));
  const strict = new FileObjectStore(join(root, 'alias'), { refusesLinks: true });
  expect((await strict.head('a/b'))?.bytes).toBe(3);
  await rm(join(root, 'objects/.tmp'), { recursive: true });
  await symlink('../elsewhere', join(root, 'objects/.tmp'));
  await expect(strict.put('a/c', Buffer.from('x'), '')).rejects.toThrow(/\.tmp is a symbolic link/);
  await expect(strict.abortStaleUploads(new Date(), async () => false)).rejects.toThrow(/symbolic link/);
});

const temporaryDevice = statSync(tmpdir()).dev;
const otherFileSystem = ['/dev/shm', '/var/tmp'].find(
  (path) => existsSync(path) && statSync(path).dev !== temporaryDevice,
);
const withTwoFileSystems = requires(
  'two file systems',
  otherFileSystem === undefined ? '/dev/shm and /var/tmp are missing or on the file system of TMPDIR' : null,
);
withTwoFileSystems.test('fetches a copy to another file system', async () => {
  const folder = await mkdtemp(join(otherFileSystem ?? '', 'file-store-'));
  try {
    await put('a/b', 'content');
    await store.fetchToFile('a/b', join(folder, 'source'), never);
    expect(await readFile(join(folder, 'source'), 'utf8')).toBe('content');
    expect((await stat(join(root, 'objects/a/b'))).nlink).toBe(1);
    expect(await store.fetchesAsLinks(folder)).toBe(false);
    expect(await readdir(folder)).toEqual(['source']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('removes folders that are empty after a deletion, and no others', async () => {
  await put('a/b/c/1');
  await put('a/d/1');
  await store.deletePrefix('a/b/c/');
  expect(await readdir(join(root, 'objects/a'))).toEqual(['d']);
  await store.deletePrefix('a/');
  expect(await readdir(join(root, 'objects'))).toEqual(['.tmp']);
});

test('stores objects while their empty folders are being removed', async () => {
  let done = false;
  const removeEmptyFolders = async () => {
    while (!done) await store.deletePrefix('a/b/c/d/none/');
  };
  const removing = removeEmptyFolders();

  try {
    for (let round = 0; round < 50; round += 1) {
      await put('a/b/c/d/object');
      expect(await store.head('a/b/c/d/object')).not.toBeNull();
      await store.deletePrefix('a/b/c/d/');
    }
  } finally {
    done = true;
    await removing;
  }
});

test('removes old unfinished objects after a crash', async () => {
  await store.check();
  const yesterday = new Date(Date.now() - 86_400_000);
  await writeFile(join(root, 'objects/.tmp/old'), 'half');
  await utimes(join(root, 'objects/.tmp/old'), yesterday, yesterday);
  await writeFile(join(root, 'objects/.tmp/new'), 'half');

  expect(await store.abortStaleUploads(new Date(Date.now() - 3_600_000), async () => false)).toBe(1);

  expect(await readdir(join(root, 'objects/.tmp'))).toEqual(['new']);
});

test('reports disk space, also before the first object', async () => {
  const { blocks, bsize } = await statfs(root);
  const { freeBytes, totalBytes } = await store.diskSpace();
  expect(totalBytes).toBe(blocks * bsize);
  expect(freeBytes).toBeGreaterThan(0);
  expect(freeBytes).toBeLessThan(totalBytes);
});

test('check rejects where it cannot write', async () => {
  await writeFile(join(root, 'file'), '');
  await expect(new FileObjectStore(join(root, 'file')).check()).rejects.toThrow('ENOTDIR');
});
