import { createHash, timingSafeEqual } from 'node:crypto';
import { Problem } from '@framelane/service-kit/problem';
import type { RequestHandler } from 'express';

/** Accepts only requests with the shared service secret, which is compared in constant time. */
export function serviceAuthentication(secret: string): RequestHandler {
  const expected = digest(`Bearer ${secret}`);
  return (req, _res, next) => {
    if (!timingSafeEqual(digest(req.get('authorization') ?? ''), expected)) {
      throw new Problem(
        'invalid_service_secret',
        'SERVICE_SECRET differs between the engine and the control plane.',
      );
    }
    next();
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
