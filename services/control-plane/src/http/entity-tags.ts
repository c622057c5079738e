import { createHash } from 'node:crypto';
import { VERSION } from '@framelane/service-kit/version';
import type { Request, Response } from 'express';
import type { Contract } from './contract.ts';

/** Derives the ETags of responses from the versions of the rows that they show. */
export class EntityTags {
  readonly #format: string;

  /** The same rows can have another representation in another version, and at other addresses. */
  constructor(contract: Contract) {
    this.#format = createHash('sha256')
      .update(JSON.stringify([VERSION, contract]))
      .digest('base64url');
  }

  /** A weak ETag: equal ones mean the same data. */
  of(versions: readonly string[]): string {
    return weakTag(JSON.stringify([this.#format, ...versions]));
  }
}

function weakTag(content: string | Buffer): string {
  return `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`;
}

/** Sends a body with its ETag; 304 if the client has it (RFC 9110 §13.1.2). */
export function sendTagged(res: Response, body: string | Buffer): void {
  // Express compares it with the request.
  res.set('ETag', weakTag(body)).send(body);
}

/** The same for a body that many responses share: its bytes and its ETag are prepared once. Set its Content-Type before. */
export function taggedBody(content: string | Buffer): (res: Response) => void {
  const body = Buffer.isBuffer(content) ? content : Buffer.from(content);
  const entityTag = weakTag(body);
  return (res) => void res.set('ETag', entityTag).send(body);
}

/** Sends 304 if the client has this version (RFC 9110 §13.1.2). Returns whether it did. */
export function sendUnchanged(req: Request, res: Response, entityTag: string): boolean {
  const known = (req.get('if-none-match') ?? '').split(',').map((each) => each.trim());
  if (!known.includes(entityTag)) return false;
  setEntityTag(res, entityTag).status(304).end();
  return true;
}

/** Sets the ETag of a response. Browsers store the response, but revalidate it each time. */
export function setEntityTag(res: Response, entityTag: string): Response {
  return res.set({ ETag: entityTag, 'Cache-Control': 'private, no-cache' });
}
