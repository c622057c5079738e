import { pipeline } from 'node:stream/promises';
import type { ByteRange } from '@framelane/object-store/object-store';
import type { Request, Response } from 'express';
import type { StoredFile } from './stored-file.ts';

/** Errors of a response whose client has closed the connection, as players do when they seek. */
const CLIENT_ABORTS: ReadonlySet<string | undefined> = new Set([
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_UNABLE_TO_PIPE',
]);

/**
 * Responds with 200, 206, 304 or 416 (RFC 9110 §13, §14), and reads only the requested range from storage; or redirects to the
 * object store with 302.
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
  const range = requestedRange(req, file);
  if (range === 'unsatisfiable') {
    res.status(416).set('Content-Range', `bytes */${file.bytes}`).end();
    return;
  }
  const body = req.method === 'HEAD' ? null : await file.open(range);
  const { start, end } = range ?? { start: 0, end: file.bytes - 1 };
  if (range !== undefined) res.status(206).set('Content-Range', `bytes ${start}-${end}/${file.bytes}`);
  res.set({ ...headers, 'Content-Length': String(end - start + 1) });
  if (body === null) {
    res.end();
    return;
  }
  try {
    await pipeline(body, res);
  } catch (error) {
    // A pipeline that could not start does not close its source.
    body.destroy();
    if (!CLIENT_ABORTS.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

/** The requested range. Undefined for the whole file, also if several ranges are requested. */
function requestedRange(req: Request, { bytes, etag }: StoredFile): ByteRange | undefined | 'unsatisfiable' {
  const condition = req.get('if-range');
  // The range is for another version (RFC 9110 §13.1.5).
  if (condition !== undefined && condition !== etag) return undefined;
  const ranges = req.range(bytes, { combine: true });
  if (ranges === -1) return 'unsatisfiable';
  const usable = Array.isArray(ranges) && ranges.type === 'bytes' && ranges.length === 1;
  return usable ? ranges[0] : undefined;
}
