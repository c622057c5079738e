import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DamagedBackupError } from './backup-errors.ts';
import { hashed, readLines, writeLines } from './compressed-lines.ts';

let folder: string;
let store: FileObjectStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-lines-'));
  store = new FileObjectStore(folder);
});
afterEach(() => rm(folder, { recursive: true }));

async function* lines(...texts: string[]) {
  yield* texts;
}
const read = (sha256?: string) => Array.fromAsync(readLines(store, 'a.gz', sha256));

test('lines of any length are read as they were written', async () => {
  const texts = ['', 'ü'.repeat(300_000), '{"a":1}', ''];
  const { sha256, lines: count } = await writeLines(store, 'a.gz', lines(...texts));
  expect(count).toBe(4);
  expect(
    createHash('sha256')
      .update(await readFile(join(folder, 'a.gz')))
      .digest('hex'),
  ).toBe(sha256);
  expect(await read(sha256)).toEqual(texts);
  await writeLines(store, 'a.gz', lines());
  expect(await read()).toEqual([]);
});

test('a file that is missing, torn, or another one is damaged', async () => {
  await expect(read()).rejects.toThrow(DamagedBackupError);
  const { sha256 } = await writeLines(store, 'a.gz', lines('first', 'second'));
  const file = join(folder, 'a.gz');
  const whole = await readFile(file);
  for (const content of [whole.subarray(0, -1), gzipSync('first\nsec'), gzipSync('first\n')]) {
    await writeFile(file, content);
    await expect(read(sha256)).rejects.toThrow('a.gz is damaged.');
  }
});

test('a last line without its end is damaged, also without a hash', async () => {
  await writeFile(join(folder, 'a.gz'), gzipSync('first\nsec'));
  await expect(read()).rejects.toThrow('a.gz is damaged.');
});

test('a file that cannot be read at present is not damaged', async () => {
  await writeLines(store, 'a.gz', lines('first'));
  const get = async () => {
    const body = Readable.from(
      (async function* () {
        yield gzipSync('first').subarray(0, 5);
        throw new Error('the connection is lost');
      })(),
    );
    return { body, bytes: 9, etag: '', modifiedAt: new Date() };
  };
  const failing = Object.assign(new FileObjectStore(folder), { get });
  await expect(Array.fromAsync(readLines(failing, 'a.gz'))).rejects.toThrow('the connection is lost');
  const unreachable = Object.assign(failing, { get: () => Promise.reject(new Error('no route')) });
  await expect(Array.fromAsync(readLines(unreachable, 'a.gz'))).rejects.toThrow('no route');
});

test('lines that fail are not stored', async () => {
  const failing = async function* () {
    yield 'first';
    throw new Error('the database is gone');
  };
  await expect(writeLines(store, 'a.gz', failing())).rejects.toThrow('the database is gone');
  expect(await store.head('a.gz')).toBeNull();
});

test('a stream that nobody reads closes its source', async () => {
  const body = Readable.from(['a']);
  const closed = new Promise((resolve) => body.once('close', resolve));
  hashed(body, createHash('sha256')).destroy();
  await closed;
});
