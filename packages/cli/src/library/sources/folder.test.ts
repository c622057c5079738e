import { mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { LibraryItem } from '../library-item.ts';
import { folderSource } from './folder.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'framelane-folder-'));
});
afterEach(() => rm(root, { recursive: true }));

async function put(files: Record<string, string | Buffer | object>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    await mkdir(dirname(path), { recursive: true });
    const isText = typeof content === 'string' || Buffer.isBuffer(content);
    await writeFile(path, isText ? content : JSON.stringify(content));
  }
}

function read(folder = root): Promise<LibraryItem[]> {
  const source = folderSource({ signal: AbortSignal.timeout(60_000) }, folder);
  return Array.fromAsync(source.items()) as Promise<LibraryItem[]>;
}

const EXPORTED = {
  format: 'framelane-video',
  version: 1,
  record: {
    id: 'vid_1',
    title: 'Exported',
    filename: 'a.mov',
    tags: ['x'],
    metadata: { importedFrom: 'mux:1' },
    passthrough: 'p',
    createdAt: '2026-01-01T00:00:00.000Z',
    updatedAt: '2026-01-01T00:00:00.000Z',
    playbackPolicy: 'signed',
    allowedOrigins: null,
    keepSource: 'always',
    audioOnly: false,
    trim: { start: 1, end: null },
    watermark: null,
    poster: null,
  },
  files: {
    source: { name: 'source.mov', bytes: 3 },
    downloads: [{ name: 'highest.mp4', bytes: 4, file: 'highest' }],
    captions: [{ name: 'captions.en.vtt', bytes: 6, language: 'en', label: 'English', default: true }],
    chapters: { name: 'chapters.json', bytes: 1 },
    poster: { name: 'poster.jpg', bytes: 1 },
  },
};

test('a file has the fields of its sidecar, its captions, chapters and poster', async () => {
  await put({
    'b/film.mp4': 'film',
    'b/film.json': { title: 'The film', description: 'Text', tags: ['x'], createdAt: '2020-01-01T00:00:00Z' },
    'b/film.en.vtt': 'WEBVTT en',
    'b/film.chapters.vtt': 'WEBVTT chapters',
    'b/film.jpg': 'jpeg',
    'a.mkv': 'other',
    '.hidden/c.mp4': 'hidden',
  });
  const [a, film, ...others] = await read();
  expect(others).toEqual([]);
  expect(a).toMatchObject({ name: 'a.mkv', title: 'a', size: 5, createdAt: expect.stringMatching(/Z$/) });
  expect(film).toMatchObject({
    name: 'b/film.mp4',
    title: 'The film',
    tags: ['x'],
    metadata: { description: 'Text' },
    createdAt: '2020-01-01T00:00:00Z',
  });
  expect(await film?.details()).toEqual({
    captions: [{ language: 'en', text: 'WEBVTT en' }],
    chapters: 'WEBVTT chapters',
    poster: Buffer.from('jpeg'),
    warnings: [],
  });
});

test('a second file of a language gets a language of its own', async () => {
  await put({ 'a.mp4': 'a', 'a.en.srt': '1', 'a.en.vtt': 'WEBVTT' });
  const [item] = await read();
  expect((await item?.details())?.captions.map(({ language }) => language)).toEqual(['en', 'en-x-2']);
});

test('captions and a poster that cannot be read are warnings', async () => {
  await put({ 'a.mp4': 'a', 'a.de.srt': Buffer.from('Gr\xFC\xDFe', 'latin1'), 'a.jpg': '' });
  await truncate(join(root, 'a.jpg'), 3 * 1024 ** 2);
  const [item] = await read();
  expect(await item?.details()).toEqual({
    captions: [],
    chapters: undefined,
    poster: undefined,
    warnings: [
      expect.stringMatching(
        /^The captions de could not be read: .*a\.de\.srt is not UTF-8 text\. Convert it/,
      ),
      expect.stringMatching(/^The poster could not be read: .*a\.jpg has more than 2 MiB\.$/),
    ],
  });
});

test('the id is that of the content, wherever the folder is', async () => {
  await put({ 'x/a.mp4': 'content', 'y/a.mp4': 'content', 'z/a.mp4': 'Content' });
  const [x, y, z] = await read();
  expect(x?.id).toBe(y?.id);
  expect(x?.id).not.toBe(z?.id);
  expect((await read(join(root, 'x')))[0]?.id).toBe(x?.id);
});

test('symbolic links are not followed', async () => {
  await put({ 'real/a.mp4': 'a' });
  await symlink(join(root, 'real/a.mp4'), join(root, 'link.mp4'));
  await symlink(root, join(root, 'real/circle'));
  expect((await read()).map(({ name }) => name)).toEqual(['real/a.mp4']);
});

test.each([
  ['is no JSON', '{', /a\.json is not JSON/],
  ['has a field of another type', { tags: 'x' }, /a\.json: tags: .*Correct or delete the file/],
  ['is not UTF-8', Buffer.from([0xff]), /is not UTF-8 text/],
])('a sidecar that %s is reported for its video, and the others are read', async (_, json, message) => {
  await put({ 'a.mp4': 'a', 'a.json': json, 'b.mp4': 'b' });
  const [a, b] = await read();
  expect(a).toMatchObject({ name: 'a.mp4', error: { message: expect.stringMatching(message) } });
  expect(b).toMatchObject({ name: 'b.mp4', title: 'b' });
});

test('a huge sidecar is not read', async () => {
  await put({ 'a.mp4': 'a', 'a.json': '{}' });
  await truncate(join(root, 'a.json'), 10 * 1024 ** 3);
  expect((await read())[0]).toMatchObject({ error: { message: expect.stringContaining('more than 2 MiB') } });
});

test('a folder that is missing', async () => {
  await expect(read(join(root, 'none'))).rejects.toThrow('is not a folder');
});

test('a folder in it that cannot be read is reported, and the others are read', async () => {
  await put({ 'a/a.mp4': 'a', 'lost/b.mp4': 'b', 'z/c.mp4': 'c' });
  const names: unknown[] = [];
  for await (const item of folderSource({ signal: AbortSignal.timeout(60_000) }, root).items()) {
    names.push('error' in item ? [item.name, item.error.message] : item.name);
    await rm(join(root, 'lost'), { recursive: true, force: true });
  }
  expect(names).toEqual(['a/a.mp4', ['lost', `${join(root, 'lost')} is not a folder.`], 'z/c.mp4']);
});

test('a folder of an export is one video, from its source', async () => {
  await put({
    'Exported-vid_1/video.json': EXPORTED,
    'Exported-vid_1/source.mov': 'src',
    'Exported-vid_1/highest.mp4': 'high',
    'Exported-vid_1/captions.en.vtt': 'WEBVTT',
    'Exported-vid_1/chapters.json': { chapters: [{ start: 0, title: 'One' }] },
    'Exported-vid_1/poster.jpg': 'p',
    'library.json': { format: 'framelane-library' },
  });
  const [item, ...others] = await read();
  expect(others).toEqual([]);
  expect(item).toMatchObject({
    id: 'framelane:vid_1',
    title: 'Exported',
    filename: 'a.mov',
    tags: ['x'],
    metadata: { importedFrom: 'mux:1' },
    passthrough: 'p',
    size: 3,
    unsupported: undefined,
    fields: { playbackPolicy: 'signed', keepSource: 'always', trim: { start: 1, end: null } },
  });
  expect(await item?.media()).toEqual({ path: join(root, 'Exported-vid_1/source.mov') });
  expect(await item?.details()).toEqual({
    captions: [{ language: 'en', label: 'English', default: true, text: 'WEBVTT' }],
    chapters: [{ start: 0, title: 'One' }],
    poster: undefined,
    warnings: [],
  });
});

test('without a source, the rendition is taken, which is trimmed already', async () => {
  const { source, ...files } = EXPORTED.files;
  await put({ 'video.json': { ...EXPORTED, files }, 'highest.mp4': 'high' });
  const [item] = await read();
  expect(item).toMatchObject({ size: 4, unsupported: undefined });
  expect(item?.fields).not.toHaveProperty('trim');
  expect(await item?.media()).toEqual({ path: join(root, 'highest.mp4') });
});

test.each(['../../outside.mov', '/etc/passwd', '..', ''])(
  'an export cannot name the file %j',
  async (name) => {
    await put({ 'video.json': { ...EXPORTED, files: { ...EXPORTED.files, source: { name, bytes: 1 } } } });
    expect((await read())[0]).toMatchObject({
      error: { message: expect.stringContaining('files.source.name') },
    });
  },
);

test('an export whose media file was copied in part is not imported', async () => {
  await put({ 'video.json': EXPORTED, 'source.mov': 'sr' });
  expect((await read())[0]?.unsupported).toBe('source.mov has 2 of 3 bytes. Copy the export again.');
});

test('symbolic links in an export are not followed', async () => {
  await put({
    'outside/secret': 'src',
    'export/video.json': EXPORTED,
    'export/chapters.json': { chapters: [] },
  });
  for (const name of ['source.mov', 'captions.en.vtt'])
    await symlink(join(root, 'outside/secret'), join(root, 'export', name));
  const [item] = await read(join(root, 'export'));
  expect(item?.unsupported).toBe('source.mov is missing, or is no file. Copy the export again.');
  await expect(item?.details()).rejects.toThrow('captions.en.vtt is no file');
});

test('an export that was interrupted is reported: its files are no videos of their own', async () => {
  const name = `Exported-vid_${'1'.repeat(26)}`;
  await put({ [`${name}/source.mov`]: 'src', [`${name}/highest.mp4`]: 'high', 'z.mp4': 'z' });
  expect(await read()).toMatchObject([
    { name: 'z.mp4' },
    { name, error: { message: expect.stringContaining('Its export is not complete') } },
  ]);
});
