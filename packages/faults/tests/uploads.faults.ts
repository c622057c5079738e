import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { CLOSING_BOUNDARY, filePartHead, formWith, joined, textPart } from '@framelane/test-kit/multipart';
import { until } from '@framelane/test-kit/until';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import type { Ticket } from '../src/api.ts';
import { type Clips, makeClips, padded } from '../src/clips.ts';
import { Cluster } from '../src/cluster.ts';
import { logged } from '../src/logged.ts';
import { HeldUpload, outcomeOf, type RawUpload } from '../src/raw-upload.ts';
import { holdUpload, Uploader } from '../src/uploader.ts';
import { violationsAtRest } from '../src/violations-at-rest.ts';

const LOOPS = Number(process.env.LOOPS ?? 1);
/** Also runs tests that take minutes. */
const LONG = process.env.LONG === 'yes';

const DISCONNECTS = LOOPS * 50;
const MAX_UPLOAD_BYTES = 16_000_000;
/** 60 % are more than one part, so that an interrupted upload leaves parts to abort. */
const LARGE_BYTES = 15_000_000;
/** Longer than Node's default request timeout of five minutes. */
const LONG_UPLOAD_MS = 320_000;

jest.setTimeout(LOOPS * 300_000 + (LONG ? LONG_UPLOAD_MS : 0));

let cluster: Cluster;
let clips: Clips;
let uploader: Uploader;
/** A video, and the same video with bytes that players skip, so that its upload takes longer. */
let clip: Buffer;
let large: Buffer;

beforeAll(async () => {
  const env = { MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES), UPLOAD_IDLE_SECONDS: '8' };
  clips = await makeClips();
  cluster = await Cluster.start({ env });
  clip = await readFile(clips.short);
  uploader = new Uploader(cluster, clip);
  large = padded(clip, LARGE_BYTES);
});
afterEach(async () => {
  cluster.heal();
  expect(await violationsAtRest(cluster)).toEqual([]);
});
afterAll(async () => {
  await cluster?.stop();
});

describe('tokens', () => {
  test('a token is valid for one file, however many uploads use it', async () => {
    const ticket = await cluster.api.ticket();
    const send = () =>
      until(async () => {
        const outcome = await uploader.send({ token: ticket.uploadToken, body: formWith(large) });
        // On a busy machine, a service may not respond before the timeout. A 409 is one of the expected refusals.
        return outcome.status !== 503 && outcome;
      });
    const outcomes = await Promise.all(Array.from({ length: 10 }, send));
    const refusals = outcomes.filter(({ status }) => status !== 202);
    // Ten if the response to the accepted upload was a 503: its retry is refused, too.
    expect(refusals.length).toBeGreaterThanOrEqual(9);
    for (const { code } of refusals) expect(['upload_in_progress', 'upload_token_used']).toContain(code);

    await uploader.expectReady([ticket]);
    expect(await uploader.send({ token: ticket.uploadToken })).toEqual({
      status: 401,
      code: 'upload_token_used',
    });
    expect(uploader.sourcesOf(ticket)).toHaveLength(1);
  });

  test('an invalid or expired token is refused', async () => {
    const [expired, deleted] = (await uploader.tickets(2)) as [Ticket, Ticket];
    await cluster.postgres.query('update upload_tickets set expires_at = now() where video_id = $1', [
      expired.videoId,
    ]);
    await cluster.api.delete(deleted.videoId);
    const outcomes = await Promise.all(
      [
        undefined,
        '',
        `ut_${'x'.repeat(43)}`,
        'x'.repeat(5_000),
        "' or 1=1 --",
        deleted.uploadToken,
        expired.uploadToken,
      ].map((token) => uploader.send({ token })),
    );
    expect(outcomes.map(({ status, code }) => `${status} ${code}`)).toEqual([
      '401 upload_token_missing',
      '401 upload_token_missing',
      ...Array(4).fill('401 upload_token_invalid'),
      '401 upload_token_expired',
    ]);
    await until(async () => (await cluster.api.video(expired.videoId))?.status === 'failed');
  });
});

describe('forms', () => {
  const MALFORMED: Record<string, { upload: () => Omit<RawUpload, 'token'>; outcome: string }> = {
    'a Content-Type without a boundary': {
      upload: () => ({ body: formWith(clip), contentType: 'multipart/form-data' }),
      outcome: '400 malformed_multipart',
    },
    'another boundary': {
      upload: () => ({ body: formWith(clip), contentType: 'multipart/form-data; boundary=other' }),
      outcome: '400 malformed_multipart',
    },
    'no final boundary': {
      upload: () => ({ body: joined(filePartHead(), clip) }),
      outcome: '400 malformed_multipart',
    },
    'no final boundary after the file': {
      upload: () => ({ body: joined(filePartHead(), clip, '\r\n', textPart('a', 'b')) }),
      outcome: '400 malformed_multipart',
    },
    '5,000 parts': {
      upload: () => ({
        body: joined(
          ...Array.from({ length: 5_000 }, (_, index) => textPart(`a${index}`, 'b')),
          formWith(clip),
        ),
      }),
      outcome: '400 malformed_multipart',
    },
    '5,000 parts after the file': {
      upload: () => ({
        body: joined(
          formWith(clip).subarray(0, -CLOSING_BOUNDARY.length),
          ...Array.from({ length: 5_000 }, (_, index) => textPart(`a${index}`, 'b')),
          CLOSING_BOUNDARY,
        ),
      }),
      outcome: '400 malformed_multipart',
    },
    'a deep field name': {
      upload: () => ({ body: joined(textPart(`a${'[b]'.repeat(1_000)}`, 'c'), formWith(clip)) }),
      outcome: '400 malformed_multipart',
    },
    'two files': {
      upload: () => ({
        body: joined(
          formWith(clip).subarray(0, -CLOSING_BOUNDARY.length),
          formWith(clip, 'second.mp4', 'second'),
        ),
      }),
      outcome: '400 multiple_files',
    },
    'no file': {
      upload: () => ({ body: joined(textPart('a', 'b'), CLOSING_BOUNDARY) }),
      outcome: '400 file_missing',
    },
    'an empty file': { upload: () => ({ body: formWith('') }), outcome: '400 file_empty' },
    nothing: { upload: () => ({ body: Buffer.alloc(0) }), outcome: '400 malformed_multipart' },
    'not a form': {
      upload: () => ({ body: clip, contentType: 'video/mp4' }),
      outcome: '415 unsupported_media_type',
    },
    'a body shorter than its Content-Length': {
      upload: () => ({ body: formWith(clip), length: formWith(clip).byteLength + 1 }),
      outcome: '408 upload_timeout',
    },
    'a body longer than its Content-Length': {
      upload: () => ({ body: formWith(clip), length: formWith(clip).byteLength - 10 }),
      // Node's HTTP parser refuses it: it reads the rest as another request.
      outcome: '400 undefined',
    },
    'a Content-Length above the limit': {
      upload: () => ({ body: Buffer.alloc(1000), length: 2 * MAX_UPLOAD_BYTES }),
      outcome: '413 file_too_large',
    },
    'a chunked body above the limit': {
      upload: () => ({ body: formWith(Buffer.alloc(MAX_UPLOAD_BYTES + 1)), length: null }),
      outcome: '413 file_too_large',
    },
  };

  test('every malformed form is refused, and its token stays valid', async () => {
    const cases = Object.entries(MALFORMED);
    const tickets = await uploader.tickets(cases.length);
    const outcomes = await Promise.all(
      cases.map(async ([name, { upload }], index) => {
        const { status, code } = await uploader.sendUntilFinal({
          token: tickets[index]?.uploadToken,
          ...upload(),
        });
        return [name, `${status} ${code}`];
      }),
    );
    expect(outcomes).toEqual(cases.map(([name, { outcome }]) => [name, outcome]));
    expect(tickets.flatMap((ticket) => uploader.sourcesOf(ticket))).toEqual([]);

    const half = tickets.filter((_ticket, index) => index % 2 === 0);
    for (const ticket of half) await uploader.sendUntilAccepted(ticket);
    await uploader.expectReady(half);
  });

  test('a body without Content-Length is accepted', async () => {
    const ticket = await cluster.api.ticket();
    expect(await uploader.send({ token: ticket.uploadToken, body: formWith(large), length: null })).toEqual({
      status: 202,
      code: undefined,
    });
    await uploader.expectReady([ticket]);
  });

  test('files with hostile names become ready, and no object key contains such a name', async () => {
    const names = [
      '../../../../../../etc/passwd',
      '/dev/null',
      '..',
      '-i evil.mp4',
      '$(touch /tmp/framelane-was-here)`id`;|&.mp4',
      "'; drop table videos; --.mp4",
      '%00%0a%2e%2e%2f.mp4',
      '{{7*7}}%s%n%x.mp4',
      `${'x'.repeat(5_000)}.mp4`,
      '🎬\u202e4pm.mp4',
    ];
    const tickets = await uploader.tickets(names.length);
    for (const [index, ticket] of tickets.entries()) {
      const body = formWith(clip, names[index], names[index]?.slice(0, 100));
      expect(await uploader.send({ token: ticket.uploadToken, body })).toMatchObject({ status: 202 });
    }
    await uploader.expectReady(tickets);
    for (const key of cluster.storage.objects.keys()) expect(key).toMatch(/^(sources|hls)\/[\w/.]+$/);
    expect(existsSync('/tmp/framelane-was-here')).toBe(false);
  });
});

describe('clients', () => {
  test('a client that is too slow is refused and can retry', async () => {
    const { port } = cluster.proxies.uploads;
    const [silent, dripping, long] = (await uploader.tickets(3)) as [Ticket, Ticket, Ticket];

    const slowHead = async () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      socket.write('POST /upload HTTP/1.1\r\nHost: engine\r\n');
      const dripped = setInterval(() => socket.write('X-Slow: y\r\n'), 500);
      socket.resume();
      await once(socket, 'close');
      clearInterval(dripped);
    };
    const silentBody = async () => {
      const held = await HeldUpload.begin(port, { token: silent.uploadToken, file: large });
      await held.sendUntil(0.5);
      expect(await outcomeOf(held.client)).toEqual({ status: 408, code: 'upload_timeout' });
    };
    const drippingBody = async () => {
      const held = await HeldUpload.begin(port, { token: dripping.uploadToken, file: large });
      const response = outcomeOf(held.client);
      let part = 0;
      // About ten bytes a second: never idle, but the upload would take weeks.
      const dripped = setInterval(() => {
        part += 1e-7;
        void held.sendUntil(part);
      }, 200);
      expect(await response).toEqual({ status: 408, code: 'upload_timeout' });
      clearInterval(dripped);
    };
    /** Sends slowly, for longer than Node's default request timeout. */
    const longUpload = async () => {
      const held = await HeldUpload.begin(port, { token: long.uploadToken, file: large });
      for (let step = 1; step <= 320; step += 1) {
        await held.sendUntil(step / 321);
        await pause(LONG_UPLOAD_MS / 320);
      }
      await held.sendUntil(1);
      expect(await outcomeOf(held.client)).toEqual({ status: 202, code: undefined });
      held.client.disconnect();
    };
    await Promise.all([slowHead(), silentBody(), drippingBody(), ...(LONG ? [longUpload()] : [])]);
    await Promise.all(
      [silent, dripping, ...(LONG ? [] : [long])].map((each) => uploader.sendUntilAccepted(each)),
    );
    await uploader.expectReady([silent, dripping, long]);
  });

  test(`a client that disconnects at 60 %, ${DISCONNECTS} times, leaves nothing`, async () => {
    const tickets = await uploader.tickets(5);
    /** The bytes that engines had received of a ticket's uploads when the client disconnected. */
    const bytesOfBrokenUploads = ({ videoId }: Ticket) =>
      logged(cluster.engines, 'upload.broken')
        .filter((line) => line.videoId === videoId && line.code === 'upload_interrupted')
        .map(({ bytes }) => Number(bytes));
    const disconnect = async (ticket: Ticket, file: Buffer) => {
      const before = bytesOfBrokenUploads(ticket).length;
      const held = await holdUpload(cluster, ticket, { file, fraction: 0.6 });
      held.client.disconnect();
      await until(() => bytesOfBrokenUploads(ticket).length > before);
    };
    await Promise.all(
      tickets.map(async (ticket) => {
        const brokenInTheFile = () => bytesOfBrokenUploads(ticket).filter((bytes) => bytes > 0).length;
        for (let times = 0; brokenInTheFile() < DISCONNECTS / tickets.length; times += 1) {
          await disconnect(ticket, times % 5 === 0 ? large : large.subarray(0, 2_000_000));
        }
      }),
    );
    const bytes = tickets.flatMap(bytesOfBrokenUploads).filter((each) => each > 0);
    process.stdout.write(
      `${bytes.length} clients disconnected after ${Math.min(...bytes)} to ${Math.max(...bytes)} bytes. LOOPS=${LOOPS}\n`,
    );
    for (const ticket of tickets) await uploader.sendUntilAccepted(ticket);
    await uploader.expectReady(tickets);
  });

  test('a complete file is accepted even if its client disconnects before the response', async () => {
    const ticket = await cluster.api.ticket();
    const heads = () => cluster.storage.log.filter((operation) => operation === 'HeadObject').length;
    const headsBefore = heads();
    cluster.storage.inject('HeadObject', 'hang', 1);
    const held = await HeldUpload.begin(cluster.proxies.uploads.port, {
      token: ticket.uploadToken,
      file: clip,
    });
    await held.sendUntil(1);
    await until(() => uploader.sourcesOf(ticket).length > 0);
    // `hangUp` ends only requests that already hang. A later one would wait for the time limit of the storage client.
    await until(() => heads() > headsBefore);
    held.client.disconnect();
    cluster.storage.hangUp();
    await uploader.expectReady([ticket]);
  });
});
