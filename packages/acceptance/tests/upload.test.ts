import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UploadTicket } from '@framelane/client';
import { runProgram } from '@framelane/test-kit/run-program';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { HeldUpload } from '../src/held-upload.ts';
import { readTarget } from '../src/target.ts';

const target = readTarget(process.env);
const client = new FramelaneClient(target);

let directory: string;
let path: string;
let clip: Buffer;
let ticket: UploadTicket;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-upload-'));
  // Noise makes the file larger than the buffers of a connection.
  path = await makeMp4(directory, {
    name: 'clip',
    width: 640,
    height: 360,
    rate: '25',
    seconds: 3,
    audio: null,
    noise: { from: 0, to: 3 },
  });
  clip = await readFile(path);
});
beforeEach(async () => {
  ticket = await client.requestTicket({ filename: 'clip.mp4' });
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

/** Status and error code of a response. */
async function outcome(response: Response): Promise<[number, string | undefined]> {
  const body = (await response.json()) as { code?: string };
  return [response.status, body.code];
}

describe('a token', () => {
  test('is valid for one file, and a second upload is refused and changes nothing', async () => {
    const first = await client.upload(ticket, new Blob([clip]));
    expect(first.status).toBe(202);
    expect(await first.json()).toEqual({
      videoId: ticket.videoId,
      status: 'processing',
      size: clip.length,
      receivedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    expect(await outcome(await client.upload(ticket, new Blob(['another file'])))).toEqual([
      401,
      'upload_token_used',
    ]);
    expect((await client.ready(ticket.videoId)).source?.sha256).toBe(sha256(clip));
  });

  test('used ten times at once accepts one upload', async () => {
    const files = Array.from({ length: 10 }, () => randomBytes(500_000));
    const responses = await Promise.all(
      files.map(async (file) => outcome(await client.upload(ticket, new Blob([file])))),
    );
    const accepted = responses.filter(([status]) => status === 202);
    expect(accepted).toHaveLength(1);
    for (const response of responses.filter(([status]) => status !== 202)) {
      expect([
        [401, 'upload_token_used'],
        [409, 'upload_in_progress'],
      ]).toContainEqual(response);
    }
    await client.settled(ticket.videoId);
  });

  test.each([
    ['is not sent', undefined, 'upload_token_missing'],
    ['is unknown', `ut_${'x'.repeat(43)}`, 'upload_token_invalid'],
    ['is an API key', target.apiKey, 'upload_token_invalid'],
  ])('that %s is refused', async (_what, token, code) => {
    const form = new FormData();
    form.append('file', new Blob([clip]), 'clip.mp4');
    const headers = token === undefined ? {} : { 'X-Upload-Token': token };
    const response = await fetch(ticket.uploadUrl, { method: 'POST', headers, body: form });
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(await outcome(response)).toEqual([401, code]);
  });

  test('is invalid after its video is deleted', async () => {
    await client.delete(ticket.videoId);
    expect((await outcome(await client.upload(ticket, new Blob([clip]))))[0]).toBe(401);
  });
});

describe('an interrupted upload', () => {
  test('leases the token until the disconnect is noticed, and then the file can be sent again', async () => {
    const held = await HeldUpload.begin(ticket, clip, 0.6);
    expect(await outcome(await client.upload(ticket, new Blob([clip])))).toEqual([409, 'upload_in_progress']);
    held.cut();
    // The token is leased until the engine notices the disconnect.
    const retry = await until(async () => {
      const response = await client.upload(ticket, new Blob([clip]));
      return response.status === 409 ? undefined : response;
    });
    expect(await outcome(retry)).toEqual([202, undefined]);
    const video = await client.ready(ticket.videoId);
    expect([video.size, video.source?.sha256]).toEqual([clip.length, sha256(clip)]);
  });
});

describe('an upload that is not a video in a form', () => {
  test('is accepted, and fails with the reason', async () => {
    const response = await client.upload(ticket, new Blob([randomBytes(200_000)]));
    expect(response.status).toBe(202);
    const video = await client.settled(ticket.videoId);
    expect(video).toMatchObject({ status: 'failed', error: { code: 'not_a_video' } });
    expect(video.error?.message).toMatch(/\w/);
    expect([video.hls, video.variants]).toEqual([undefined, undefined]);
    const master = `${target.baseUrl}/hls/${target.workspaceId}/${video.id}/master.m3u8`;
    expect((await fetch(master)).status).toBe(404);
  });

  test('is refused if the file is empty, and the token stays valid', async () => {
    expect(await outcome(await client.upload(ticket, new Blob([])))).toEqual([400, 'file_empty']);
    expect((await client.upload(ticket, new Blob([clip]))).status).toBe(202);
  });

  test('is refused if it is not a form, and the token stays valid', async () => {
    const response = await fetch(ticket.uploadUrl, {
      method: 'POST',
      headers: { 'X-Upload-Token': ticket.uploadToken, 'Content-Type': 'video/mp4' },
      body: new Blob([clip]),
    });
    expect(await outcome(response)).toEqual([415, 'unsupported_media_type']);
    expect((await client.upload(ticket, new Blob([clip]))).status).toBe(202);
  });
});

describe('curl', () => {
  /** Uploads with curl. Resolves with the response, the number of sent bytes, and whether curl got 100 Continue. */
  async function curl(token: string) {
    const { stdout, stderr } = await runProgram('curl', [
      ...['--silent', '--show-error', '--verbose', '--output', join(directory, 'response.json')],
      ...['--header', `X-Upload-Token: ${token}`, '--header', 'Expect: 100-continue'],
      ...['--expect100-timeout', '30', '--form', `file=@${path}`],
      ...['--write-out', '%{http_code} %{size_upload}', ticket.uploadUrl],
    ]);
    const [status, sent] = stdout.split(' ').map(Number);
    const response: unknown = JSON.parse(await readFile(join(directory, 'response.json'), 'utf8'));
    return {
      status,
      sent: sent ?? Number.NaN,
      response,
      continued: stderr.includes('HTTP/1.1 100 Continue'),
    };
  }

  test('sends the file after 100 Continue', async () => {
    const { status, sent, response, continued } = await curl(ticket.uploadToken);
    expect([status, continued]).toEqual([202, true]);
    expect(response).toMatchObject({ videoId: ticket.videoId, size: clip.length });
    expect(sent).toBeGreaterThan(clip.length);
  });

  test('does not send the file if the token is refused', async () => {
    const { status, sent, response, continued } = await curl('ut_nobody_knows_it');
    expect([status, continued, sent]).toEqual([401, false, 0]);
    expect(response).toMatchObject({ code: 'upload_token_invalid' });
  });
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
