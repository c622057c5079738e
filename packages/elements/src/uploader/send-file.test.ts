import { expect, test } from '@jest/globals';
import type { Ticket } from './request-ticket.ts';
import { sender } from './send-file.ts';

const handlers = (signal: AbortSignal) => ({ signal, onTicket: () => {}, onProgress: () => {} });
const senderWith = (getTicket: () => Promise<Ticket>) => sender({ getTicket, scope: () => '' });
const aborted = expect.objectContaining({ name: 'AbortError' });

test('a file that is paused and resumed before its ticket arrives has one ticket', async () => {
  const { promise: requested, resolve: setRequested } = Promise.withResolvers<void>();
  const { promise: ticket, reject: refuse } = Promise.withResolvers<Ticket>();
  let requests = 0;
  const send = senderWith(() => {
    requests += 1;
    setRequested();
    return ticket;
  });
  const file = new File(['12345'], 'a.mp4');
  const transfers = [send(file, handlers(new AbortController().signal))];
  await requested;
  transfers.push(send(file, handlers(new AbortController().signal)));
  transfers.push(send(new File(['1'], 'b.mp4'), handlers(new AbortController().signal)));
  while (requests < 2) await new Promise((resolve) => setImmediate(resolve));
  refuse(new Error('refused'));
  expect((await Promise.allSettled(transfers)).map(({ status }) => status)).toEqual(
    Array(3).fill('rejected'),
  );
  expect(requests).toBe(2);
});

test('a file that is cancelled at once needs no ticket', async () => {
  let requests = 0;
  const send = senderWith(async () => {
    requests += 1;
    throw new Error('refused');
  });
  const controller = new AbortController();
  const transfer = send(new File(['12345'], 'a.mp4'), handlers(controller.signal));
  controller.abort();
  await expect(transfer).rejects.toEqual(aborted);
  expect(requests).toBe(0);
});
