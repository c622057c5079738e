import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import { NotResumableError, type ObjectStore } from '@framelane/object-store/object-store';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { ResponseCheck } from '@framelane/openapi-tools/response-check';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import express from 'express';
import { startTestEngine, type TestEngine, withFaults } from './support/test-engine.ts';

/** Provokes every response that the contract documents for the engine. A documented status without a case here fails. */

type Operation = { operationId: string; responses: Record<string, object>; 'x-served-by'?: string };

const document = readOpenApiDocument() as { paths: Record<string, Record<string, Operation>> };
const check = new ResponseCheck(document);

let engine: TestEngine;
const faults: Partial<ObjectStore> = {};
beforeAll(async () => {
  engine = await startTestEngine({
    env: { UPLOAD_IDLE_SECONDS: '1' },
    wrapObjects: (objects) => withFaults(objects, faults),
  });
});
afterAll(() => engine.stop());
afterEach(() => {
  delete faults.putStream;
  delete faults.beginResumable;
  engine.controlPlane.broken.clear();
  jest.restoreAllMocks();
});

type Received = { status: number; headers: Record<string, string>; body: Buffer };

async function receivedFrom(response: Response): Promise<Received> {
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

async function upload({
  token = engine.controlPlane.issue().token,
  content = 'any bytes',
  body = formWith(content),
}: {
  token?: string;
  content?: string;
  body?: FormData | string;
} = {}): Promise<Received> {
  const headers = { 'X-Upload-Token': token };
  return receivedFrom(await fetch(`${engine.url}/upload`, { method: 'POST', headers, body }));
}

function formWith(content: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([content]), 'clip.mp4');
  return form;
}

const FULL = async () => {
  throw Object.assign(new Error('disk full'), { code: 'ENOSPC' });
};

/** Makes the next call of `method` fail: the response is prepared, but cannot be written. */
function breakResponses(method: 'send' | 'status'): void {
  jest.spyOn(express.response, method).mockImplementationOnce(() => {
    throw new Error('It cannot be written');
  });
}

const FILE = 'a resumable file';

/** Sends a request of the tus protocol. */
async function tus(
  method: string,
  path: string,
  { token, headers = {}, body }: { token: string; headers?: Record<string, string>; body?: string },
): Promise<Received> {
  const all = { 'Tus-Resumable': '1.0.0', 'X-Upload-Token': token, ...headers };
  return receivedFrom(
    await fetch(`${engine.url}${path}`, { method, headers: all, ...(body !== undefined && { body }) }),
  );
}

/** Creates a resumable upload. `changes` replace its headers. */
async function create({
  token = engine.controlPlane.issue().token,
  changes = {},
  body,
}: {
  token?: string;
  changes?: Record<string, string>;
  body?: string;
} = {}): Promise<Received> {
  const headers = {
    'Upload-Length': String(FILE.length),
    ...(body !== undefined && { 'Content-Type': 'application/offset+octet-stream' }),
    ...changes,
  };
  return tus('POST', '/files', { token, headers, ...(body !== undefined && { body }) });
}

const WRONG_CHECKSUM = { 'Upload-Checksum': 'sha1 AAAA' };

/** Sends a request to an upload that exists. `prepare` is called before it. */
async function toUpload(
  method: 'HEAD' | 'PATCH' | 'DELETE',
  {
    changes = {},
    body = FILE,
    prepare = () => {},
  }: {
    changes?: Record<string, string>;
    body?: string;
    prepare?: (upload: { path: string; token: string }) => unknown;
  } = {},
): Promise<Received> {
  const { token } = engine.controlPlane.issue();
  const { headers } = await create({ token });
  const path = new URL(headers.location ?? '').pathname;
  await prepare({ path, token });
  const part = { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' };
  const isPatch = method === 'PATCH';
  return tus(method, path, {
    token,
    headers: { ...(isPatch && part), ...changes },
    ...(isPatch && { body }),
  });
}

const terminate = ({ path, token }: { path: string; token: string }) => tus('DELETE', path, { token });
const otherToken = () => ({ 'X-Upload-Token': engine.controlPlane.issue().token });
const UNKNOWN = { 'X-Upload-Token': 'ut_unknown' };
const OTHER_VERSION = { 'Tus-Resumable': '0.2.2' };

const PROVOCATIONS: Record<string, Record<string, () => Promise<Received>>> = {
  uploadFile: {
    202: () => upload(),
    400: () => upload({ content: '' }),
    401: () => upload({ token: 'ut_unknown' }),
    403: () => upload({ token: engine.controlPlane.issue({ overQuota: true }).token }),
    408: async () => {
      const client = await RawClient.connect(engine.port);
      client.sendHead({ token: engine.controlPlane.issue().token, length: 1000 });
      const { status, headers, body } = await client.response();
      return { status, headers: Object.fromEntries(headers), body: Buffer.from(JSON.stringify(body)) };
    },
    409: () => upload({ token: engine.controlPlane.issue({ transferId: 'xfr_another' }).token }),
    413: () => upload({ token: engine.controlPlane.issue({ maxBytes: 1 }).token }),
    415: () => upload({ body: 'no form' }),
    429: () => upload({ token: engine.controlPlane.issue({ crowded: true }).token }),
    500: () => {
      breakResponses('send');
      return upload();
    },
    503: () => {
      engine.controlPlane.broken.add(INTERNAL_PATHS.redeemTicket);
      return upload();
    },
    507: () => {
      faults.putStream = FULL;
      return upload();
    },
  },
  createResumableUpload: {
    201: () => create({ body: FILE }),
    400: () => create({ changes: { 'Upload-Length': '0' } }),
    401: () => create({ token: 'ut_unknown' }),
    403: () => create({ token: engine.controlPlane.issue({ overQuota: true }).token }),
    409: () => create({ token: engine.controlPlane.issue({ transferId: 'xfr_another' }).token }),
    410: () => {
      faults.beginResumable = async () => {
        throw new NotResumableError('The stored part is lost');
      };
      return create({ body: FILE });
    },
    412: () => create({ changes: OTHER_VERSION }),
    413: () => create({ token: engine.controlPlane.issue({ maxBytes: 1 }).token }),
    460: () => create({ body: FILE, changes: WRONG_CHECKSUM }),
    500: () => {
      breakResponses('status');
      return create();
    },
    503: () => {
      engine.controlPlane.broken.add(INTERNAL_PATHS.createResumable);
      return create();
    },
    507: () => {
      faults.beginResumable = FULL;
      return create({ body: FILE });
    },
  },
  getResumableUpload: {
    200: () => toUpload('HEAD'),
    401: () => toUpload('HEAD', { changes: UNKNOWN }),
    404: () => toUpload('HEAD', { changes: otherToken() }),
    410: () => toUpload('HEAD', { prepare: terminate }),
    412: () => toUpload('HEAD', { changes: OTHER_VERSION }),
    423: () =>
      toUpload('HEAD', { prepare: () => engine.controlPlane.broken.add(INTERNAL_PATHS.openResumable) }),
  },
  sendUploadPart: {
    204: () => toUpload('PATCH'),
    400: () => toUpload('PATCH', { changes: { 'Upload-Offset': '-1' } }),
    401: () => toUpload('PATCH', { changes: UNKNOWN }),
    404: () => toUpload('PATCH', { changes: otherToken() }),
    409: () => toUpload('PATCH', { changes: { 'Upload-Offset': '3' } }),
    410: () => toUpload('PATCH', { prepare: terminate }),
    412: () => toUpload('PATCH', { changes: OTHER_VERSION }),
    413: () => toUpload('PATCH', { body: `${FILE} with a tail` }),
    415: () => toUpload('PATCH', { changes: { 'Content-Type': 'video/mp4' } }),
    460: () => toUpload('PATCH', { changes: WRONG_CHECKSUM }),
    500: () => toUpload('PATCH', { prepare: () => breakResponses('status') }),
    503: () =>
      toUpload('PATCH', { prepare: () => engine.controlPlane.broken.add(INTERNAL_PATHS.openResumable) }),
    507: () => {
      faults.beginResumable = FULL;
      return toUpload('PATCH');
    },
  },
  terminateResumableUpload: {
    204: () => toUpload('DELETE'),
    401: () => toUpload('DELETE', { changes: UNKNOWN }),
    403: () =>
      toUpload('DELETE', {
        prepare: ({ path, token }) =>
          tus('PATCH', path, {
            token,
            headers: { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': '0' },
            body: FILE,
          }),
      }),
    404: () => toUpload('DELETE', { changes: otherToken() }),
    410: () => toUpload('DELETE', { prepare: terminate }),
    412: () => toUpload('DELETE', { changes: OTHER_VERSION }),
    500: () => toUpload('DELETE', { prepare: () => breakResponses('status') }),
    503: () =>
      toUpload('DELETE', {
        prepare: () => engine.controlPlane.broken.add(INTERNAL_PATHS.terminateResumable),
      }),
  },
};

const documented = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).flatMap(([method, operation]) => {
    if (operation['x-served-by'] !== 'engine') return [];
    const { operationId, responses } = operation;
    return Object.keys(responses).map((status) => ({ operationId, path, method, status }));
  }),
);

test.each(documented)('$operationId $status', async ({ operationId, path, method, status }) => {
  const received = await PROVOCATIONS[operationId]?.[status]?.();
  expect(received?.status).toBe(Number(status));
  if (received !== undefined) expect(check.violations(path, method, received)).toEqual([]);
});
