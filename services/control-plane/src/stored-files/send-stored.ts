import type { ByteRange } from '@framelane/object-store/object-store';
import type { Request, Response } from 'express';
import { requestedRange } from './requested-range.ts';
import type { StoredFile } from './stored-file.ts';

/**
 * Responds with 200, 206, 304 or 416 (RFC 9110 §13, §14), or redirects to the object store with 302. Clients may be slow, pause for
 * any time, and disconnect.
 */
export async function sendStored(
  req: Request,
  res: Response,
  file: StoredFile,
  headers: Readonly<Record<'Content-Type' | 'Cache-Control', string> & { 'Content-Disposition'?: string }>,
  redirectCaching: string,
): Promise<void> {
  // A URL presigned for GET does not allow HEAD.
  if (file.presign !== undefined && req.method === 'GET') {
    const location = await file.presign();
    res.set('Cache-Control', redirectCaching).status(302).location(location).end();
    return;
  }
  res.set({ ETag: file.etag, 'Accept-Ranges': 'bytes' });
  if (req.fresh) {
    res.set('Cache-Control', headers['Cache-Control']).status(304).end();
    return;
  }
  const range = rangeOf(req, file);
  if (range === 'unsatisfiable') {
    res.status(416).set('Content-Range', `bytes */${file.bytes}`).end();
    return;
  }
  const { start, end } = range ?? { start: 0, end: file.bytes - 1 };
  const writeHead = () => {
    if (range !== undefined) res.status(206).set('Content-Range', `bytes ${start}-${end}/${file.bytes}`);
    res.set({ ...headers, 'Content-Length': String(end - start + 1) });
  };
  if (req.method === 'HEAD' || start > end) {
    writeHead();
    res.end();
    return;
  }
  let left = end - start + 1;
  for await (const piece of file.read({ start, end })) {
    if (!res.headersSent) writeHead();
    left -= piece.byteLength;
    if (!(await write(res, piece, left === 0))) return;
  }
}

/** Resolves with true when the client's connection has taken a piece, and with false when it has closed. */
function write(res: Response, piece: Buffer, isLast: boolean): Promise<boolean> {
  return new Promise((resolve) => {
    if (res.destroyed) {
      resolve(false);
      return;
    }
    const closed = () => resolve(false);
    const written = (error?: Error | null) => {
      res.off('close', closed);
      resolve(error == null);
    };
    res.once('close', closed);
    if (isLast) res.end(piece, written);
    else res.write(piece, written);
  });
}

/** The range to send. Undefined for the whole file. */
function rangeOf(req: Request, { bytes, etag }: StoredFile): ByteRange | undefined | 'unsatisfiable' {
  // Only GET has ranges (RFC 9110 §14.2).
  if (req.method !== 'GET') return undefined;
  const condition = req.get('if-range');
  // The range is for another version (RFC 9110 §13.1.5).
  if (condition !== undefined && condition !== etag) return undefined;
  return requestedRange(req.get('range'), bytes);
}
