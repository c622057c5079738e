import { Problem } from '@framelane/service-kit/problem';
import cors from 'cors';
import { Router } from 'express';
import type { Uploads } from './uploads.ts';

/** Browsers may upload from any origin: the token in the header is the authorization. */
const fromAnyOrigin = cors({
  origin: '*',
  methods: ['POST'],
  allowedHeaders: ['X-Upload-Token', 'Content-Type'],
  exposedHeaders: ['X-Request-Id', 'Retry-After'],
  maxAge: 86_400,
});

export function uploadRoutes(uploads: Uploads): Router {
  const router = Router();
  router
    .route('/upload')
    .all(fromAnyOrigin)
    .post(async (req, res) => {
      const { videoId, bytes, receivedAt } = await uploads.receive(req, res);
      res.status(202).set('Cache-Control', 'no-store').json({
        videoId,
        status: 'processing',
        size: bytes,
        receivedAt: receivedAt.toISOString(),
      });
    })
    .all((req) => {
      throw new Problem('method_not_allowed', `This path does not support ${req.method}. Supported: POST.`, {
        headers: { Allow: 'POST, OPTIONS' },
      });
    });
  return router;
}
