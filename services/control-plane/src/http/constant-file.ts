import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { RequestHandler, Response } from 'express';
import { taggedBody } from './entity-tags.ts';

/** The encodings of responses, the preferred one first. */
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

/** The highest quality takes seconds for a large file. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const ENCODERS: Record<Encoding, (content: Buffer) => Promise<Buffer>> = {
  br: (content) => promisify(brotliCompress)(content, BROTLI),
  gzip: promisify<Buffer, Buffer>(gzip),
};

/** Sends a file that never changes under its URL, as `compressedBody` does. */
export function constantFile(path: string): RequestHandler {
  return compressedBody(() => readFile(path), {
    extension: extname(path),
    cacheControl: 'public, max-age=31536000, immutable',
  });
}

/**
 * Sends what `read` resolves with. It is read and compressed once, when a client first requests it, and all responses share the bytes.
 * `extension` determines the Content-Type.
 */
export function compressedBody(
  read: () => Promise<Buffer>,
  { extension, cacheControl }: { extension: string; cacheControl: string },
): RequestHandler {
  const bodies = new Map<string, Promise<(res: Response) => void>>();

  const load = async (encoding: Encoding | undefined) => {
    const content = await read();
    return taggedBody(encoding === undefined ? content : await ENCODERS[encoding](content));
  };

  return async (req, res) => {
    const encoding = ENCODINGS.find((each) => req.acceptsEncodings(each));
    const key = encoding ?? 'identity';
    const body = bodies.get(key) ?? load(encoding);
    bodies.set(key, body);
    const send = await body.catch((error: unknown) => {
      // The next request tries again.
      bodies.delete(key);
      throw error;
    });
    res.vary('Accept-Encoding').type(extension);
    res.set('Cache-Control', cacheControl);
    if (encoding !== undefined) res.set('Content-Encoding', encoding);
    send(res);
  };
}
