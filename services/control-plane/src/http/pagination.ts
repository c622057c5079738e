import { invalidField } from '@framelane/service-kit/problem';
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Page, Position } from '../db/keyset-page.ts';

const cursorContent = z.tuple([z.iso.datetime(), z.string().regex(/^\w{1,64}$/)]);

/** Reads an opaque cursor. Throws a 400 Problem if it is malformed. */
export function readCursor(cursor: string): Position {
  try {
    const [createdAt, id] = cursorContent.parse(
      JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')),
    );
    return { createdAt: new Date(createdAt), id };
  } catch {
    throw invalidField(
      'query/cursor',
      'invalid',
      'is not a valid cursor (use nextCursor of the previous page)',
    );
  }
}

/** The value of the Link header to the next page (RFC 8288): the same request with the cursor. `publicUrl` may have a path. */
export function nextLink(publicUrl: string, originalUrl: string, nextCursor: string): string {
  const url = new URL(`${publicUrl}${originalUrl}`);
  url.searchParams.set('cursor', nextCursor);
  return `<${url.href}>; rel="next"`;
}

/** The page a request asks for. The contract has validated it and filled in the default limit. */
export function pageOf(req: Request): { after: Position | undefined; limit: number } {
  const { limit, cursor } = req.query as unknown as { limit: number; cursor?: string };
  // The validator lets Infinity pass as an integer: it does not compare it with the maximum.
  if (!Number.isFinite(limit)) throw invalidField('query/limit', 'type', 'must be an integer');
  return { limit, after: cursor === undefined ? undefined : readCursor(cursor) };
}

/** Sends a page, with the header Link to the next one. */
export function sendPage(req: Request, res: Response, publicUrl: string, page: Page<unknown>): void {
  if (page.nextCursor !== null) res.set('Link', nextLink(publicUrl, req.originalUrl, page.nextCursor));
  res.json(page);
}
