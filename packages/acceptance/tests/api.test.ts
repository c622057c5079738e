import type { UploadTicket } from '@framelane/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiDescription } from '../src/api-description.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const origin = target.baseUrl.replace(/\/v1$/, '');

const UNKNOWN_KEY = `svc_live_${'0'.repeat(43)}`;
const OTHER_WORKSPACE = 'ws_01h455vb4pex5vsknk084sn02q';
const UNKNOWN_VIDEO = 'vid_01h455vb4pex5vsknk084sn02q';

let ticket: UploadTicket;
let api: ApiDescription;
beforeAll(async () => {
  ticket = await client.requestTicket({ filename: 'summer.campaign.mp4' });
  api = await ApiDescription.fetch(target.baseUrl);
});
afterAll(() => client.deleteAll());

describe('a request', () => {
  const operations = [
    ['getWhoami', 'GET', () => '/auth/whoami'],
    ['createUploadTicket', 'POST', () => '/videos/upload-ticket'],
    ['listVideos', 'GET', () => '/videos'],
    ['getVideo', 'GET', () => `/videos/${ticket.videoId}`],
    ['deleteVideo', 'DELETE', () => `/videos/${ticket.videoId}`],
  ] as const;
  const { 'X-Svc-Workspace': workspace, ...key } = client.credentials;
  const credentials: [string, Record<string, string | undefined>, number, string][] = [
    ['no key', { 'X-Svc-Workspace': workspace }, 401, 'missing_api_key'],
    [
      'an unknown key',
      { Authorization: `Bearer ${UNKNOWN_KEY}`, 'X-Svc-Workspace': workspace },
      401,
      'invalid_api_key',
    ],
    ['no workspace', key, 400, 'workspace_header_missing'],
    ['another workspace', { ...key, 'X-Svc-Workspace': OTHER_WORKSPACE }, 403, 'workspace_mismatch'],
  ];
  const matrix = operations.flatMap((operation) => credentials.map((row) => ({ operation, row })));

  test.each(matrix)('$operation.0 with $row.0 is refused', async ({ operation, row }) => {
    const [operationId, method, path] = operation;
    const [, headers, status, code] = row;
    const given = Object.entries(headers).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const response = await fetch(`${target.baseUrl}${path()}`, {
      method,
      headers: Object.fromEntries(given),
    });
    await expectProblem(response, { operationId, status, code });
    expect(response.headers.get('www-authenticate') !== null).toBe(status === 401);
  });

  test('with key and workspace gets the identity of the key, never its secret', async () => {
    const response = await client.call('GET', '/auth/whoami');
    expect(response.headers.get('cache-control')).toBe('no-store');
    const text = await response.clone().text();
    expect(text).not.toContain(target.apiKey);
    expect(JSON.parse(text)).toMatchObject({
      workspace: { id: target.workspaceId },
      apiKey: { last4: target.apiKey.slice(-4) },
    });
    expect(await api.mismatches('getWhoami', response)).toEqual([]);
  });
});

describe('a video without a file', () => {
  test('has a ticket for the engine and the status uploading', async () => {
    expect(ticket.uploadUrl).toBe(`${target.engineUrl}/upload`);
    expect(ticket.uploadToken).toMatch(/^ut_/);
    const response = await client.call('GET', `/videos/${ticket.videoId}`);
    const video = await response.clone().json();
    expect(video).toMatchObject({
      id: ticket.videoId,
      status: 'uploading',
      title: 'summer.campaign',
      filename: 'summer.campaign.mp4',
      expiresAt: ticket.expiresAt,
    });
    expect(video).not.toHaveProperty('hls');
    expect(video).not.toHaveProperty('variants');
    expect(await api.mismatches('getVideo', response)).toEqual([]);
  });

  test('is in the list, filtered by status and creation time', async () => {
    const { createdAt } = await client.video(ticket.videoId);
    const nextMoment = new Date(Date.parse(createdAt) + 1).toISOString();
    const listed = async (filter: string) => {
      const response = await client.call('GET', `/videos?limit=100&${filter}`);
      expect(await api.mismatches('listVideos', response.clone())).toEqual([]);
      const { data } = (await response.json()) as { data: { id: string }[] };
      return data.map(({ id }) => id);
    };
    expect(await listed(`status=uploading&createdAfter=${createdAt}`)).toContain(ticket.videoId);
    expect(await listed(`status=ready,failed&createdAfter=${createdAt}`)).not.toContain(ticket.videoId);
    expect(await listed(`createdAfter=${nextMoment}`)).not.toContain(ticket.videoId);
    expect(await listed(`createdBefore=${createdAt}`)).not.toContain(ticket.videoId);
  });
});

describe('an invalid request', () => {
  test.each([
    ['an unknown video', 'getVideo', 'GET', `/videos/${UNKNOWN_VIDEO}`, undefined, 404, 'video_not_found'],
    [
      'a ticket without a name',
      'createUploadTicket',
      'POST',
      '/videos/upload-ticket',
      {},
      400,
      'validation_failed',
    ],
    [
      'a ticket with a misspelt policy',
      'createUploadTicket',
      'POST',
      '/videos/upload-ticket',
      { filename: 'a.mp4', playbackpolicy: 'signed' },
      400,
      'unknown_field',
    ],
    ['an unknown status', 'listVideos', 'GET', '/videos?status=lost', undefined, 400, 'validation_failed'],
    ['an invalid page size', 'listVideos', 'GET', '/videos?limit=101', undefined, 400, 'validation_failed'],
    ['another method', 'getOpenApiDocument', 'DELETE', '/openapi.json', undefined, 405, 'method_not_allowed'],
  ])('returns a problem: %s', async (_what, operationId, method, path, body, status, code) => {
    await expectProblem(await client.call(method, path, body), { operationId, status, code });
  });
});

describe('the API description', () => {
  test('names the URLs of this installation, including the engine', () => {
    expect(api.document.openapi).toMatch(/^3\.1\./);
    expect(api.addressOf('createUploadTicket')).toBe(`${target.baseUrl}/videos/upload-ticket`);
    expect(api.addressOf('uploadFile')).toBe(ticket.uploadUrl);
  });
});

describe('health', () => {
  test.each([
    ['control plane', origin],
    ['engine', target.engineUrl],
  ])('the %s is alive and ready', async (_who, address) => {
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
    const ready = await fetch(`${address}/readyz`);
    expect(await ready.json()).toEqual({ status: 'ready', missing: [] });
    expect(ready.status).toBe(200);
  });
});

/** Expects a problem (RFC 9457) that matches the description of the operation. */
async function expectProblem(
  response: Response,
  { operationId, status, code }: { operationId: string; status: number; code: string },
): Promise<void> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.clone().json()).toMatchObject({
    status,
    code,
    title: expect.stringMatching(/./),
    detail: expect.stringMatching(/./),
    instance: expect.stringMatching(/^\//),
    requestId: response.headers.get('x-request-id'),
  });
  expect(response.status).toBe(status);
  expect(await api.mismatches(operationId, response)).toEqual([]);
}
