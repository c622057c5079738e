import { Problem } from '@framelane/service-kit/problem';
import cors from 'cors';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { uploadLocked } from '../uploads/upload-problems.ts';
import type { ResumableUploads, UploadState } from './resumable-uploads.ts';
import {
  CHECKSUM_ALGORITHMS,
  PART_MEDIA_TYPE,
  readChecksum,
  readCreation,
  readOffset,
  requirePart,
  requireVersion,
  TUS_EXTENSIONS,
  TUS_VERSION,
} from './tus-headers.ts';

/** Browsers may upload from any origin: the token in the header is the authorization. */
const fromAnyOrigin = cors({
  origin: '*',
  methods: ['POST', 'HEAD', 'PATCH', 'DELETE'],
  allowedHeaders: [
    'X-Upload-Token',
    'Content-Type',
    'Tus-Resumable',
    'Upload-Length',
    'Upload-Metadata',
    'Upload-Offset',
    'Upload-Checksum',
    'X-HTTP-Method-Override',
    'X-Request-ID',
  ],
  exposedHeaders: [
    'Location',
    'Tus-Resumable',
    'Tus-Version',
    'Tus-Extension',
    'Tus-Checksum-Algorithm',
    'Upload-Offset',
    'Upload-Length',
    'Upload-Metadata',
    'Upload-Expires',
    'X-Request-Id',
    'Retry-After',
  ],
  maxAge: 86_400,
});

const OVERRIDES = ['PATCH', 'DELETE', 'HEAD'];

/** The tus protocol 1.0.0: https://tus.io/protocols/resumable-upload. */
export function tusRoutes(uploads: ResumableUploads): Router {
  const router = Router();
  router.use('/files', overrideMethod, tusHeaders, fromAnyOrigin, (req, _res, next) => {
    requireVersion(req.headers);
    next();
  });

  router
    .route('/files')
    .post(async (req, res) => {
      const creation = readCreation(req.headers);
      const created = await uploads.create(req, creation).catch(rethrowForTus);
      res.set({ Location: created.url, 'Upload-Expires': httpDate(created.expiresAt) });
      const hasPart = req.get('content-type') === PART_MEDIA_TYPE;
      if (hasPart) await receiveWithCreation(uploads, req, res, created.transferId);
      res.status(201).end();
    })
    .all(methodNotAllowed('POST'));

  router
    .route('/files/:transferId')
    .head(async (req, res) => {
      const state = await uploads.state(req, req.params.transferId).catch((error: unknown) => {
        throw isTemporary(error) ? uploadLocked(error) : error;
      });
      setState(res, state);
      res.set('Upload-Length', String(state.length));
      if (state.metadata !== '') res.set('Upload-Metadata', state.metadata);
      res.status(200).end();
    })
    .patch(async (req, res) => {
      requirePart(req.headers);
      const part = {
        start: readOffset(req.headers),
        checksum: readChecksum(req.headers),
        beforeBody: () => sendContinue(req, res),
      };
      const state = await uploads.receive(req, req.params.transferId, part).catch(rethrowForTus);
      setState(res, state);
      res.status(204).end();
    })
    .delete(async (req, res) => {
      await uploads.terminate(req, req.params.transferId).catch(rethrowForTus);
      res.status(204).end();
    })
    .all(methodNotAllowed('HEAD, PATCH, DELETE'));

  return router;
}

/** The extension creation-with-upload. An upload that already has bytes keeps them and ignores the body. */
async function receiveWithCreation(
  uploads: ResumableUploads,
  req: Request,
  res: Response,
  transferId: string,
): Promise<void> {
  const part = { start: 0, checksum: readChecksum(req.headers), beforeBody: () => sendContinue(req, res) };
  const state = await uploads.receive(req, transferId, part).catch((error: unknown) => {
    // The upload exists, so the client continues with a HEAD request.
    res.set('Connection', 'close');
    if (error instanceof Problem && error.code === 'upload_offset_mismatch') return undefined;
    return rethrowForTus(error);
  });
  if (state) setState(res, state);
}

function setState(res: Response, { offset, expiresAt }: UploadState): void {
  res.set('Upload-Offset', String(offset));
  if (expiresAt === null) res.removeHeader('Upload-Expires');
  else res.set('Upload-Expires', httpDate(expiresAt));
}

/** IMF-fixdate (RFC 9110 §5.6.7). */
function httpDate(time: string): string {
  return new Date(time).toUTCString();
}

/** A client that sent "Expect: 100-continue" may send the body now. */
function sendContinue(req: Request, res: Response): void {
  if (req.get('expect') !== undefined) res.writeContinue();
}

/** For clients and proxies that cannot send every method. */
const overrideMethod: RequestHandler = (req, _res, next) => {
  const method = req.get('x-http-method-override');
  if (req.method === 'POST' && method !== undefined && OVERRIDES.includes(method)) req.method = method;
  next();
};

const tusHeaders: RequestHandler = (req, res, next) => {
  res.set({ 'Tus-Resumable': TUS_VERSION, 'Cache-Control': 'no-store' });
  if (req.method === 'OPTIONS') {
    res.set({
      'Tus-Version': TUS_VERSION,
      'Tus-Extension': TUS_EXTENSIONS,
      'Tus-Checksum-Algorithm': CHECKSUM_ALGORITHMS.join(','),
    });
  }
  next();
};

/** Whether a client should repeat its HEAD instead of creating a new upload. */
function isTemporary(error: unknown): boolean {
  return !(error instanceof Problem) || error.status >= 500 || [409, 429].includes(error.status);
}

/** Clients give up after a 429. After a 503 they retry. */
function rethrowForTus(error: unknown): never {
  if (error instanceof Problem && error.status === 429) {
    throw new Problem('unavailable', error.message, error.options);
  }
  throw error;
}

function methodNotAllowed(allow: string): RequestHandler {
  return (req) => {
    throw new Problem(
      'method_not_allowed',
      `This path does not support ${req.method}. Supported: ${allow}.`,
      { headers: { Allow: `${allow}, OPTIONS` } },
    );
  };
}
