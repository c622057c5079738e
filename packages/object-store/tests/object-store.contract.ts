import { createHash, type Hash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { collectGarbage } from '@framelane/test-kit/collect-garbage';
import { until } from '@framelane/test-kit/until';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type Checkpoint,
  NotResumableError,
  ObjectExistsError,
  ObjectNotFoundError,
  type ObjectStore,
  type ResumableWriter,
} from '../src/object-store.ts';

const MIB = 1024 * 1024;
const never = new AbortController().signal;
const noneIsLive = async () => false;
const inAnHour = () => new Date(Date.now() + 3_600_000);

/** The tests that every object store passes. A second call of `create` within a test opens the same store again. */
export function objectStoreContract(
  name: string,
  lifecycle: { create(): Promise<ObjectStore>; dispose(): Promise<void> },
): void {
  describe(`${name} as an object store`, () => {
    let store: ObjectStore;
    let folder: string;

    beforeEach(async () => {
      store = await lifecycle.create();
      folder = await mkdtemp(join(tmpdir(), 'object-store-'));
    });

    afterEach(async () => {
      await lifecycle.dispose();
      await rm(folder, { recursive: true });
    });

    const put = (key: string, content: string) => store.put(key, Buffer.from(content), 'text/plain');
    const putStream = (key: string, body: Readable, signal = never) =>
      store.putStream(key, body, { contentType: 'video/mp4', signal });
    const read = async (key: string, range?: { start: number; end: number }) =>
      buffer((await store.get(key, range)).body);
    const keysBelow = async (prefix: string) =>
      (await Array.fromAsync(store.list(prefix))).map(({ key }) => key).sort();
    /** Expects neither an object nor parts of one. */
    const expectNothingAt = async (key: string) => {
      expect(await store.head(key)).toBeNull();
      expect(await store.abortStaleUploads(inAnHour(), noneIsLive)).toBe(0);
    };

    test('can be written to', async () => {
      await expect(store.check()).resolves.toBeUndefined();
    });

    describe('whole objects', () => {
      test('are read as they were stored, with their metadata', async () => {
        const content = randomBytes(100_000);
        await store.put('a/b/c.ts', content, 'video/mp2t');

        const { body, ...info } = await store.get('a/b/c.ts');
        expect((await buffer(body)).equals(content)).toBe(true);
        expect(info).toEqual(await store.head('a/b/c.ts'));
        expect(info.bytes).toBe(100_000);
        expect(info.etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
        expectNow(info.modifiedAt);
      });

      test('can be read at a presigned URL, if the store has them', async () => {
        await put('a/b', 'content');
        const url = await store.presign?.('a/b', 60);
        if (url === undefined) return;
        const response = await fetch(url, { headers: { range: 'bytes=3-5' } });
        expect([response.status, await response.text()]).toEqual([206, 'ten']);
      });

      test('have other headers at a presigned URL on request', async () => {
        await put('a/b', 'content');
        const headers = {
          contentType: 'application/octet-stream',
          contentDisposition: `attachment; filename="a _.mp4"; filename*=UTF-8''a%20%C3%A4.mp4`,
          cacheControl: 'private, no-store',
        };
        const url = await store.presign?.('a/b', 60, headers);
        if (url === undefined) return;
        const response = await fetch(url);
        expect([
          await response.text(),
          response.headers.get('content-type'),
          response.headers.get('content-disposition'),
          response.headers.get('cache-control'),
        ]).toEqual(['content', ...Object.values(headers)]);
      });

      test('may be empty', async () => {
        await put('a/empty', '');
        expect(await read('a/empty')).toHaveLength(0);
        expect(await store.head('a/empty')).toMatchObject({ bytes: 0 });
      });

      test('are replaced by later ones under the same key', async () => {
        await put('a/b', 'one');
        const first = await store.head('a/b');
        await put('a/b', 'two');
        expect(String(await read('a/b'))).toBe('two');
        expect((await store.head('a/b'))?.etag).not.toBe(first?.etag);
      });

      test('keep their entity tag when the store is opened again', async () => {
        await put('a/b', 'content');
        const before = await store.head('a/b');
        const again = await lifecycle.create();
        expect(await again.head('a/b')).toEqual(before);
      });

      test('that are missing have no metadata, and reading them throws an ObjectNotFoundError', async () => {
        await put('a/b', 'content');
        for (const key of ['none', 'a/none', 'a', 'a/b/c']) {
          expect(await store.head(key)).toBeNull();
          await expect(store.get(key)).rejects.toThrow(ObjectNotFoundError);
          await expect(store.fetchToFile(key, join(folder, 'f'), never)).rejects.toThrow(ObjectNotFoundError);
        }
      });

      test.each([
        '',
        '/a',
        'a/',
        'a//b',
        '../a',
        'a/../b',
        'a/./b',
        '.tmp/a',
        'a/.b',
        'a\0b',
        'a b',
        'a\\b',
        'ä',
      ])('are rejected under the key %j', async (key) => {
        await expect(put(key, 'x')).rejects.toThrow(TypeError);
        await expect(putStream(key, Readable.from([Buffer.from('x')]))).rejects.toThrow(TypeError);
        await expect(store.get(key)).rejects.toThrow(TypeError);
        await expect(store.head(key)).rejects.toThrow(TypeError);
        await expect(store.fetchToFile(key, join(folder, 'f'), never)).rejects.toThrow(TypeError);
      });
    });

    describe('ranges', () => {
      beforeEach(() => put('a/digits', '0123456789'));

      test.each([
        [{ start: 0, end: 0 }, '0'],
        [{ start: 3, end: 5 }, '345'],
        [{ start: 9, end: 9 }, '9'],
        [{ start: 8, end: 100 }, '89'],
      ])('%j', async (range, expected) => {
        const { body, bytes } = await store.get('a/digits', range);
        expect(String(await buffer(body))).toBe(expected);
        expect(bytes).toBe(10);
      });

      test('beyond the end throw a RangeError', async () => {
        await expect(store.get('a/digits', { start: 10, end: 12 })).rejects.toThrow(RangeError);
      });
    });

    test('readers may stop early', async () => {
      await store.put('a/large', Buffer.alloc(4 * MIB), 'video/mp4');
      // More readers than an S3ObjectStore has connections for them.
      for (let readers = 0; readers < 100; readers += 1) (await store.get('a/large')).body.destroy();
      expect(await read('a/large', { start: 0, end: 3 })).toHaveLength(4);
    });

    describe('streams', () => {
      test.each([0, 1, 8 * MIB, 8 * MIB + 1, 21 * MIB])(
        'of %d bytes are read as they were stored',
        async (size) => {
          const content = randomBytes(size);
          expect(await putStream('a/b', Readable.from(slices(content)))).toEqual({ bytes: size });
          expect((await read('a/b')).equals(content)).toBe(true);
          expect(await store.head('a/b')).toMatchObject({ bytes: size });
          expect(await store.abortStaleUploads(inAnHour(), noneIsLive)).toBe(0);
        },
      );

      test('do not exist before they are complete', async () => {
        const body = new PassThrough();
        const storing = putStream('a/b', body);
        await write(body, 20 * MIB);
        expect(await store.head('a/b')).toBeNull();
        expect(await keysBelow('a/')).toEqual([]);
        body.end();
        expect(await storing).toEqual({ bytes: 20 * MIB });
        expect(await keysBelow('a/')).toEqual(['a/b']);
      });

      test.each([0, 1, 20 * MIB])('that fail after %d bytes store nothing', async (size) => {
        const body = new PassThrough();
        const storing = expect(putStream('a/b', body)).rejects.toThrow('the client disconnected');
        await write(body, size);
        body.destroy(new Error('the client disconnected'));
        await storing;
        await expectNothingAt('a/b');
      });

      test('that failed before the call store nothing', async () => {
        const body = new PassThrough();
        body.on('error', () => {}).destroy(new Error('the client disconnected'));
        await until(() => body.closed);
        await expect(putStream('a/b', body)).rejects.toThrow();
        await expectNothingAt('a/b');
      });

      test.each([0, 20 * MIB])('that close before their end, after %d bytes, store nothing', async (size) => {
        const body = new PassThrough();
        const storing = expect(putStream('a/b', body)).rejects.toThrow();
        await write(body, size);
        body.destroy();
        await storing;
        await expectNothingAt('a/b');
      });

      test.each([0, 1, 20 * MIB])('that stall after %d bytes and are aborted store nothing', async (size) => {
        const body = new PassThrough();
        const controller = new AbortController();
        const storing = expect(putStream('a/b', body, controller.signal)).rejects.toThrow(
          expect.objectContaining({ name: 'AbortError' }),
        );
        await write(body, size);
        controller.abort();
        await storing;
        expect(body.destroyed).toBe(true);
        await expectNothingAt('a/b');
      });

      test('that are aborted from the start store nothing', async () => {
        const body = Readable.from([Buffer.from('content')]);
        await expect(putStream('a/b', body, AbortSignal.abort())).rejects.toThrow(
          expect.objectContaining({ name: 'AbortError' }),
        );
        expect(body.destroyed).toBe(true);
        await expectNothingAt('a/b');
      });

      test('that fail do not change the existing object', async () => {
        await put('a/b', 'before');
        const body = new PassThrough();
        const storing = expect(putStream('a/b', body)).rejects.toThrow('the client disconnected');
        await write(body, 9 * MIB);
        body.destroy(new Error('the client disconnected'));
        await storing;
        expect(String(await read('a/b'))).toBe('before');
      });

      test.each([1, 9 * MIB])('of %d bytes with ifAbsent replace nothing', async (size) => {
        const storeNew = () =>
          store.putStream('a/b', Readable.from(slices(randomBytes(size))), {
            contentType: 'video/mp4',
            signal: never,
            ifAbsent: true,
          });
        expect(await storeNew()).toEqual({ bytes: size });
        const first = await store.head('a/b');

        await expect(storeNew()).rejects.toThrow(ObjectExistsError);

        expect(await store.head('a/b')).toEqual(first);
        expect(await store.abortStaleUploads(inAnHour(), noneIsLive)).toBe(0);
      });

      test('that started too long ago are aborted, later ones are not', async () => {
        const body = new PassThrough();
        const storing = expect(putStream('a/b', body)).rejects.toThrow();
        await write(body, 9 * MIB);
        // There is nothing to abort until the first bytes have reached the store.
        await until(async () => (await store.abortStaleUploads(inAnHour(), noneIsLive)) === 1);
        body.end();
        await storing;
        await expectNothingAt('a/b');

        const younger = new PassThrough();
        const kept = putStream('a/c', younger);
        await write(younger, 9 * MIB);
        expect(await store.abortStaleUploads(new Date(Date.now() - 3_600_000), noneIsLive)).toBe(0);
        younger.end();
        expect(await kept).toEqual({ bytes: 9 * MIB });
      });

      test('take the same memory however long they are', async () => {
        const chunk = randomBytes(MIB);
        const sent = createHash('sha256');
        const received = createHash('sha256');
        const before = bytesOfBuffers();
        let most = before;
        /** Hashes the parts and passes them on. Measures the memory after every 16 MiB. */
        async function* measured(parts: Iterable<Buffer> | Readable, hash: Hash) {
          let unmeasured = 0;
          for await (const part of parts) {
            hash.update(part);
            yield part;
            unmeasured += part.length;
            if (unmeasured < 16 * MIB) continue;
            most = Math.max(most, bytesOfBuffers());
            unmeasured = 0;
          }
        }
        const content = measured(repeated(chunk, 256), sent);
        expect(await putStream('a/long', Readable.from(content))).toEqual({ bytes: 256 * MIB });
        for await (const _ of measured((await store.get('a/long')).body, received));

        expect(received.digest('hex')).toBe(sent.digest('hex'));
        // 4 MiB for files; 76 MiB for S3, whose parts are held until they are stored.
        expect(most - before).toBeLessThan(128 * MIB);
      });
    });

    describe('resumable objects', () => {
      /** Writes the content from the offset of the writer up to `end`. */
      const writeUpTo = async (writer: ResumableWriter, content: Buffer, end: number) => {
        for (const slice of slices(content.subarray(writer.offset, end))) await writer.write(slice);
      };

      const saved = async (writer: ResumableWriter) => {
        const checkpoint: Checkpoint = JSON.parse(JSON.stringify(await writer.settle()));
        await writer.prune();
        return checkpoint;
      };

      test.each([
        ['in one go', 20 * MIB, []],
        ['in pieces of a few bytes', 10, [1, 2, 9]],
        ['around the border of a part', 17 * MIB, [8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 16 * MIB]],
        ['up to exactly one part', 8 * MIB, [3, 5 * MIB]],
      ])('arrive %s, each time at another process', async (_name, size, cuts) => {
        const content = randomBytes(size);
        let checkpoint = await store.beginResumable('s/v/x/original', 'video/mp4');
        for (const end of [...cuts, size]) {
          const writer = await (await lifecycle.create()).resume('s/v/x/original', checkpoint, size);
          expect(writer.offset).toBe(checkpoint.durableBytes);
          await writeUpTo(writer, content, end);
          checkpoint = await saved(writer);
          expect(checkpoint.durableBytes).toBe(end);
          expect(await store.head('s/v/x/original')).toBeNull();
          await writer.close();
        }
        const last = await store.resume('s/v/x/original', checkpoint, size);
        expect(last.offset).toBe(size);
        await last.complete();
        await last.close();
        expect((await read('s/v/x/original')).equals(content)).toBe(true);
        expect(await keysBelow('s/')).toEqual(['s/v/x/original']);
        expect(await store.abortStaleUploads(inAnHour(), noneIsLive)).toBe(0);
      });

      test('arrive in any number of small pieces', async () => {
        const content = randomBytes(130);
        let checkpoint = await store.beginResumable('s/v/x/original', 'video/mp4');
        const writer = await store.resume('s/v/x/original', checkpoint, 230);
        for (const byte of content) {
          await writer.write(Uint8Array.of(byte));
          checkpoint = await saved(writer);
        }
        await writer.close();
        expect(checkpoint.tail.length).toBeLessThan(100);
        expect(await keysBelow('s/')).toHaveLength(checkpoint.tail.length);
        const next = await store.resume('s/v/x/original', checkpoint, 230);
        for (let more = 0; more < 100; more += 1) await next.write(Uint8Array.of(more));
        await saved(next);
        await next.complete();
        await next.close();
        const object = await read('s/v/x/original');
        expect(object.subarray(0, 130).equals(content)).toBe(true);
        expect(object).toHaveLength(230);
      });

      test('continue after a killed process, without the bytes that it had not stored', async () => {
        const content = randomBytes(30 * MIB);
        const begun = await store.beginResumable('s/v/x/original', 'video/mp4');
        const killed = await store.resume('s/v/x/original', begun, content.byteLength);
        await writeUpTo(killed, content, 3 * MIB);
        const checkpoint = await saved(killed);
        await writeUpTo(killed, content, 25 * MIB);
        // `close` waits for the parts in transfer. The killed process would have sent them.
        await killed.close();

        const next = await (await lifecycle.create()).resume(
          's/v/x/original',
          checkpoint,
          content.byteLength,
        );
        expect(next.offset).toBeGreaterThanOrEqual(24 * MIB);
        await writeUpTo(next, content, content.byteLength);
        await saved(next);
        await next.complete();
        await next.close();
        expect((await read('s/v/x/original')).equals(content)).toBe(true);
      });

      test('drop unverified bytes after a checkpoint that declares them untrusted', async () => {
        const content = randomBytes(20 * MIB);
        let checkpoint = await store.beginResumable('s/v/x/original', 'video/mp4');
        const first = await store.resume('s/v/x/original', checkpoint, content.byteLength);
        await writeUpTo(first, content, 5 * MIB);
        first.laterBytesUntrusted = true;
        checkpoint = await saved(first);
        for (const slice of slices(randomBytes(13 * MIB))) await first.write(slice);
        await first.close();

        const second = await store.resume('s/v/x/original', checkpoint, content.byteLength);
        expect([second.offset, second.laterBytesUntrusted]).toEqual([5 * MIB, true]);
        await writeUpTo(second, content, content.byteLength);
        await saved(second);
        await second.complete();
        await second.close();
        expect((await read('s/v/x/original')).equals(content)).toBe(true);
      });

      test('can be completed twice, also by another process', async () => {
        const content = randomBytes(9 * MIB);
        const begun = await store.beginResumable('s/v/x/original', 'video/mp4');
        const first = await store.resume('s/v/x/original', begun, content.byteLength);
        await writeUpTo(first, content, content.byteLength);
        const checkpoint = await saved(first);
        const second = await store.resume('s/v/x/original', checkpoint, content.byteLength);
        for (const writer of [first, second, first]) await writer.complete();
        const third = await store.resume('s/v/x/original', checkpoint, content.byteLength);
        expect(third.offset).toBe(content.byteLength);
        await third.complete();
        await expect(third.write(Uint8Array.of(1))).rejects.toThrow('The object is complete');
        for (const writer of [first, second, third]) await writer.close();
        expect((await read('s/v/x/original')).equals(content)).toBe(true);
      });

      test('can be discarded, and then not continued', async () => {
        const begun = await store.beginResumable('s/v/x/original', 'video/mp4');
        const writer = await store.resume('s/v/x/original', begun, 20 * MIB);
        await writeUpTo(writer, randomBytes(20 * MIB), 9 * MIB);
        const checkpoint = await saved(writer);
        await writer.close();
        await store.discardResumable('s/v/x/original', checkpoint);
        await store.discardResumable('s/v/x/original', checkpoint);
        expect(await keysBelow('s/')).toEqual([]);
        expect(await store.abortStaleUploads(inAnHour(), noneIsLive)).toBe(0);
        await expect(store.resume('s/v/x/original', checkpoint, 20 * MIB)).rejects.toThrow(NotResumableError);
      });

      test('are removed with their prefix, or when they are stale and not live', async () => {
        await store.beginResumable('s/v/x/original', 'video/mp4');
        await store.beginResumable('s/w/x/original', 'video/mp4');
        await store.abortUploads('s/v/');
        const isLive = async (key: string) => key === 's/w/x/original';
        await store.abortUploads('s/w/', isLive);
        expect(await store.abortStaleUploads(inAnHour(), isLive)).toBe(0);
        expect(await store.abortStaleUploads(inAnHour(), noneIsLive)).toBe(1);
      });
    });

    describe('prefixes', () => {
      beforeEach(async () => {
        for (const key of ['v/vid_1/a/0', 'v/vid_1/a/1', 'v/vid_1/b', 'v/vid_10/a', 'w/x'])
          await put(key, key);
      });

      test('list the objects below them and no others', async () => {
        expect(await keysBelow('v/vid_1/')).toEqual(['v/vid_1/a/0', 'v/vid_1/a/1', 'v/vid_1/b']);
        expect(await keysBelow('v/')).toEqual(['v/vid_1/a/0', 'v/vid_1/a/1', 'v/vid_1/b', 'v/vid_10/a']);
        expect(await keysBelow('none/')).toEqual([]);
        expect(await keysBelow('w/x/')).toEqual([]);
        const [entry] = await Array.fromAsync(store.list('w/'));
        expect(entry).toMatchObject({ key: 'w/x', bytes: 3 });
        expectNow(entry?.modifiedAt);
      });

      test('list keys in the order of their bytes', async () => {
        for (const key of ['o/a/1', 'o/a-b/1', 'o/a.b', 'o/a0/1', 'o/B', 'o/a_/1']) await put(key, key);
        const listed = (await Array.fromAsync(store.list('o/'))).map(({ key }) => key);
        expect(listed).toEqual(['o/B', 'o/a-b/1', 'o/a.b', 'o/a/1', 'o/a0/1', 'o/a_/1']);
      });

      test('keep what is beside objects that are deleted', async () => {
        await store.delete(['v/vid_1/a/0', 'v/vid_10/a', 'w/none']);
        await store.delete([]);
        expect(await keysBelow('v/')).toEqual(['v/vid_1/a/1', 'v/vid_1/b']);
        await expect(store.delete(['../v'])).rejects.toThrow(TypeError);
      });

      test('delete the objects below them and no others', async () => {
        await store.deletePrefix('v/vid_1/');
        await store.deletePrefix('v/vid_1/');
        await store.deletePrefix('w/x/');
        expect(await keysBelow('v/')).toEqual(['v/vid_10/a']);
        expect(await keysBelow('w/')).toEqual(['w/x']);
        await put('v/vid_1/b', 'again');
        expect(await keysBelow('v/vid_1/')).toEqual(['v/vid_1/b']);
      });
    });

    test.each(['', '/', 'v', 'v/vid_1', '../', 'v/../', '.tmp/'])('%j is not a prefix', async (prefix) => {
      await expect(store.deletePrefix(prefix)).rejects.toThrow(TypeError);
      await expect(Array.fromAsync(store.list(prefix))).rejects.toThrow(TypeError);
    });

    describe('fetching to a file', () => {
      test('copies the object', async () => {
        const content = randomBytes(3 * MIB);
        await store.put('a/b', content, 'video/mp4');
        await store.fetchToFile('a/b', join(folder, 'source'), never);
        expect((await readFile(join(folder, 'source'))).equals(content)).toBe(true);
      });

      test('copies a range to its place in a file', async () => {
        const content = randomBytes(3 * MIB);
        await store.put('a/b', content, 'video/mp4');
        const path = join(folder, 'source');
        await writeFile(path, 'begin');
        const positions: number[] = [];
        const onWritten = (position: number) => positions.push(position);
        await store.fetchRange('a/b', { start: MIB, end: 2 * MIB }, path, { signal: never, onWritten });
        const expected = Buffer.concat([Buffer.alloc(MIB), content.subarray(MIB, 2 * MIB + 1)]);
        expected.write('begin');
        expect((await readFile(path)).equals(expected)).toBe(true);
        expect(positions.at(-1)).toBe(2 * MIB + 1);
        expect(positions).toEqual(positions.toSorted((a, b) => a - b));
        for (const range of [
          { start: 3 * MIB, end: 3 * MIB },
          { start: 0, end: 3 * MIB },
        ]) {
          await expect(
            store.fetchRange('a/b', range, path, { signal: never, onWritten: () => {} }),
          ).rejects.toThrow();
        }
        const aborted = { signal: AbortSignal.abort(), onWritten: () => {} };
        await expect(store.fetchRange('a/b', { start: 0, end: 9 }, path, aborted)).rejects.toThrow(
          expect.objectContaining({ name: 'AbortError' }),
        );
      });

      test('does not change an existing file', async () => {
        await put('a/b', 'object');
        await writeFile(join(folder, 'source'), 'precious');
        await expect(store.fetchToFile('a/b', join(folder, 'source'), never)).rejects.toThrow('EEXIST');
        expect(await readFile(join(folder, 'source'), 'utf8')).toBe('precious');
      });

      test('leaves no file when aborted', async () => {
        await put('a/b', 'object');
        const fetching = store.fetchToFile('a/b', join(folder, 'source'), AbortSignal.abort());
        await expect(fetching).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
        await expect(readFile(join(folder, 'source'))).rejects.toThrow('ENOENT');
      });
    });
  });
}

function expectNow(time: Date | undefined): void {
  expect(Math.abs(Number(time) - Date.now())).toBeLessThan(10_000);
}

/** Cuts a buffer into chunks of the size that sockets deliver. */
function* slices(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.byteLength; at += 65_536) yield content.subarray(at, at + 65_536);
}

/** Copies of a chunk. */
function* repeated(chunk: Buffer, count: number): Generator<Buffer> {
  for (let made = 0; made < count; made += 1) yield Buffer.from(chunk);
}

/** Writes `size` bytes and resolves once they have been read. */
async function write(body: PassThrough, size: number): Promise<void> {
  for (const slice of slices(Buffer.alloc(size))) body.write(slice);
  await until(() => body.readableLength + body.writableLength === 0);
}

/** The bytes of all buffers that are in use. The resident memory also has garbage and pages that earlier tests left free. */
function bytesOfBuffers(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}
