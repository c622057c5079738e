import { isUtf8 } from 'node:buffer';
import express, { type RequestHandler } from 'express';

/**
 * Parses a JSON body. It must be UTF-8 (RFC 8259 §8.1): express.json() alone would replace invalid bytes, and accept other encodings of
 * Unicode. `translateHttpError` knows the errors.
 */
export function jsonBody(limit: number | string): RequestHandler {
  return express.json({
    limit,
    verify: (_req, _res, body, charset) => {
      if (charset !== 'utf-8') {
        throw Object.assign(new Error(`The charset is ${charset}`), { type: 'charset.unsupported' });
      }
      if (!isUtf8(body)) throw new Error('The body is not UTF-8');
    },
  });
}
