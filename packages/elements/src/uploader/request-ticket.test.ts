import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { refusal, requestTicket, ticketOf } from './request-ticket.ts';

const TICKET = {
  videoId: 'vid_1',
  uploadUrl: 'https://e/upload',
  tusUrl: 'https://e/files',
  uploadToken: 'ut_1',
};

test('a ticket may have other members', () => {
  expect(ticketOf({ ...TICKET, embed: 'https://e/' })).toEqual({ ...TICKET, embed: 'https://e/' });
});

test.each([undefined, null, 'text', [], {}, { ...TICKET, tusUrl: undefined, videoId: 1 }])(
  '%j is not a ticket',
  (value) => expect(() => ticketOf(value)).toThrow(expect.objectContaining({ code: 'ticket_invalid' })),
);

test('the error says what the ticket lacks', () => {
  expect(() => ticketOf({ ...TICKET, tusUrl: undefined })).toThrow('The ticket lacks tusUrl. Respond with');
});

test('a problem is passed on, and nothing else', () => {
  expect(refusal(429, { code: 'quota_exceeded', detail: 'The quota is used up.' })).toMatchObject({
    message: 'The quota is used up.',
    code: 'quota_exceeded',
    status: 429,
  });
  for (const answer of [undefined, 'html', { detail: 1 }, { code: 'x' }, { code: 'x', detail: '' }])
    expect(refusal(500, answer)).toMatchObject({
      message: 'The ticket endpoint responded with 500.',
      code: 'ticket_refused',
    });
  const { code, message } = refusal(400, { detail: 'x'.repeat(9999) });
  expect([code, message.length]).toEqual(['ticket_problem', 500]);
});

/** Requests a ticket from a server. */
async function ticketFrom(respond: RequestListener, timeoutMs?: number) {
  const server = createServer(respond);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const file = new File(['12345'], 'a.mp4', { type: 'video/mp4' });
    return await requestTicket(`http://127.0.0.1:${port}/tickets`, file, timeoutMs);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('the server of the page gets name, size and type of the file as JSON', async () => {
  const ticket = await ticketFrom(async (request, response) => {
    const { method, url, headers } = request;
    const received = {
      method,
      url,
      type: headers['content-type'],
      accept: headers.accept,
      body: await json(request),
    };
    response.writeHead(201).end(JSON.stringify({ ...TICKET, received }));
  });
  expect(ticket).toEqual({
    ...TICKET,
    received: {
      method: 'POST',
      url: '/tickets',
      type: 'application/json',
      accept: 'application/json',
      body: { filename: 'a.mp4', size: 5, type: 'video/mp4' },
    },
  });
});

test('a refusal, a text that is not JSON and a lost connection are errors with codes', async () => {
  const code = (respond: RequestListener, timeoutMs?: number) =>
    ticketFrom(respond, timeoutMs).then(
      () => 'none',
      (error) => error.code,
    );
  expect(await code((_, response) => response.writeHead(403).end(JSON.stringify(TICKET)))).toBe(
    'ticket_refused',
  );
  expect(await code((_, response) => response.end('<html>'))).toBe('ticket_invalid');
  expect(await code((request) => request.socket.destroy())).toBe('connection_failed');
  const cut: RequestListener = (request, response) => {
    response.writeHead(201, { 'Content-Length': '999' });
    response.write('{"videoId":', () => request.socket.destroy());
  };
  expect(await code(cut)).toBe('connection_failed');
  expect(await code(() => {}, 1)).toBe('connection_failed');
});
