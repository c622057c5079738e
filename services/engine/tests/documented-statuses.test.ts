import { INTERNAL_PATHS } from '@framelane/contracts/internal-api';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { ResponseCheck } from '@framelane/openapi-tools/response-check';
import { RawClient } from '@framelane/test-kit/raw-upload-client';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import express from 'express';
import { startTestEngine, type TestEngine, withFaults } from './support/test-engine.ts';

/** Provokes every response that the contract documents for an upload. A documented status without a case here fails. */

const document = readOpenApiDocument() as {
  paths: { '/upload': { post: { responses: Record<string, object> } } };
};
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
  engine.controlPlane.broken.clear();
  jest.restoreAllMocks();
});

type Given = { status: number; headers: Record<string, string>; body: Buffer };

async function upload({
  token = engine.controlPlane.issue().token,
  content = 'any bytes',
  body = formWith(content),
}: {
  token?: string;
  content?: string;
  body?: FormData | string;
} = {}): Promise<Given> {
  const response = await fetch(`${engine.url}/upload`, {
    method: 'POST',
    headers: { 'X-Upload-Token': token },
    body,
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

function formWith(content: string): FormData {
  const form = new FormData();
  form.append('file', new Blob([content]), 'clip.mp4');
  return form;
}

const PROVOCATIONS: Record<string, () => Promise<Given>> = {
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
    jest.spyOn(express.response, 'send').mockImplementationOnce(() => {
      throw new Error('It cannot be written');
    });
    return upload();
  },
  503: () => {
    engine.controlPlane.broken.add(INTERNAL_PATHS.redeemTicket);
    return upload();
  },
  507: () => {
    faults.putStream = async () => {
      throw Object.assign(new Error('disk full'), { code: 'ENOSPC' });
    };
    return upload();
  },
};

test.each(Object.keys(document.paths['/upload'].post.responses))('%s', async (status) => {
  const given = await PROVOCATIONS[status]?.();
  expect(given?.status).toBe(Number(status));
  if (given !== undefined) expect(check.violations('/upload', 'post', given)).toEqual([]);
});
