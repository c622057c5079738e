import { createHash } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { expect, test } from '@jest/globals';
import { MulterStorage } from './multer-storage.ts';

type Options = Pick<ObjectStore, 'putStream'> & { onBytes: (bytes: number) => Promise<void> };

const NOT_STORED = { status: 503, code: 'unavailable' };

const readAll: ObjectStore['putStream'] = async (_key, body) => ({ bytes: (await buffer(body)).byteLength });

/** Handles a file that the test writes to `stream`. `handled` resolves with the error that multer gets, or null. */
function receive({ putStream = readAll, onBytes = async () => {} }: Partial<Options> = {}) {
  const objects = { putStream } as ObjectStore;
  const { signal } = new AbortController();
  const storage = new MulterStorage({ objects, key: 'key', signal, onBytes });
  const stream = new PassThrough();
  const handled = new Promise<unknown>((resolve) => {
    storage._handleFile({}, { stream } as never, resolve);
  });
  return { storage, stream, handled };
}

test('a complete file is stored with its size and hash', async () => {
  const { storage, stream, handled } = receive();
  stream.end('file');
  expect(await handled).toBeNull();
  const sha256 = createHash('sha256').update('file').digest('hex');
  expect(await storage.settled()).toEqual({ bytes: 4, sha256 });
});

test('an incomplete part is not stored', async () => {
  const { storage, stream, handled } = receive();
  stream.write('fi');
  stream.destroy(new Error('Unexpected end of form'));
  expect(await handled).toMatchObject(NOT_STORED);
  expect(await storage.settled()).toBeNull();
});

test('a file over the limit is not stored, although its stream ends', async () => {
  const { storage, stream, handled } = receive();
  stream.write('fi');
  stream.emit('limit');
  stream.end();
  expect(await handled).toMatchObject(NOT_STORED);
  expect(await storage.settled()).toBeNull();
});

test('bytes that are refused before the store reads them fail the upload', async () => {
  const refused = Promise.withResolvers<void>();
  const { storage, stream, handled } = receive({
    putStream: async (...args) => {
      await refused.promise;
      return readAll(...args);
    },
    onBytes: async () => {
      setImmediate(refused.resolve);
      throw new Error('No room');
    },
  });
  stream.end('file');
  expect(await handled).toMatchObject(NOT_STORED);
  expect(await storage.settled()).toBeNull();
});
