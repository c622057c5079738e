import { expect, test } from '@jest/globals';
import {
  type EngineResponse,
  pauseMs,
  resumablePermit,
  type Send,
  uploadResumably,
} from './resumable-upload.ts';

test('the default retries take three to six minutes; pauses last up to a minute, and half of each is random', () => {
  const failures = Array.from({ length: 12 }, (_, index) => index);
  const total = (random: number) =>
    failures.reduce((ms, each) => ms + pauseMs(each, () => random), 0) / 60_000;
  expect(total(0)).toBeGreaterThan(3);
  expect(total(1)).toBeLessThan(6.1);
  expect([pauseMs(0, () => 0), pauseMs(0, () => 1)]).toEqual([250, 500]);
  expect(pauseMs(100, () => 1)).toBe(60_000);
});

test('files above a size are resumable, if the permit has `tusUrl` and `videoId`', () => {
  const permit = {
    uploadUrl: 'http://a/upload',
    uploadToken: 't',
    tusUrl: 'http://a/files',
    videoId: 'vid_1',
  };
  const isResumable = (size: number | null, resumableAbove?: number) =>
    resumablePermit(size, permit, { resumableAbove }) !== undefined;
  expect([64 * 1024 ** 2, 64 * 1024 ** 2 + 1].map((size) => isResumable(size))).toEqual([false, true]);
  expect([0, 1, null].map((size) => isResumable(size, 0))).toEqual([false, true, false]);
  const { tusUrl: _tusUrl, ...withoutTusUrl } = permit;
  const { videoId: _videoId, ...withoutVideoId } = permit;
  for (const incomplete of [withoutTusUrl, withoutVideoId])
    expect(resumablePermit(1, incomplete, { resumableAbove: 0 })).toBe(undefined);
});

const PERMIT = { videoId: 'vid_1', tusUrl: 'http://a/files', uploadToken: 't' };

const response = (status: number, headers: Record<string, string> = {}): EngineResponse => ({
  status,
  header: (name) => headers[name] ?? null,
  body: '',
});

/** Creates uploads, and gives all other requests to `respond`. `methods` are those of all requests. */
function engine(respond: Send): { methods: string[]; send: Send } {
  const methods: string[] = [];
  const send: Send = async (request) => {
    methods.push(request.method);
    return request.method === 'POST' ? response(201, { location: '/files/1' }) : respond(request);
  };
  return { methods, send };
}

test('an abort during a pause ends the upload at once', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const { methods, send } = engine(async () => {
    setImmediate(() => controller.abort(reason));
    return response(423);
  });
  const upload = uploadResumably({ size: 10 }, PERMIT, { signal: controller.signal }, send);
  await expect(upload).rejects.toBe(reason);
  expect(methods).toEqual(['POST', 'HEAD']);
});

test('an upload that stays locked ends with the status of HEAD', async () => {
  const { methods, send } = engine(async () => response(423, { 'x-request-id': 'req_1' }));
  await expect(uploadResumably({ size: 10 }, PERMIT, { retries: 0 }, send)).rejects.toMatchObject({
    name: 'FramelaneError',
    message: 'The response to the request for the offset of the upload has the status 423.',
    code: 'unexpected_response',
    status: 423,
    requestId: 'req_1',
  });
  expect(methods).toEqual(['POST', 'HEAD']);
});

test('an upload of which the engine receives nothing more ends after its retries', async () => {
  const { methods, send } = engine(async ({ method }) =>
    response(method === 'HEAD' ? 200 : 204, { 'upload-offset': '4' }),
  );
  await expect(uploadResumably({ size: 10 }, PERMIT, { retries: 1 }, send)).rejects.toMatchObject({
    message: 'The engine has received only 4 of 10 bytes.',
    code: 'upload_incomplete',
  });
  expect(methods).toEqual(['POST', 'HEAD', 'PATCH', 'HEAD', 'PATCH']);
});
