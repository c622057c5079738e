import { expect, test } from '@jest/globals';
import type { Ticket } from './request-ticket.ts';
import { type SendHandlers, UploadQueue } from './upload-queue.ts';

type Transfer = SendHandlers & {
  name: string;
  arrive: (result: { videoId: string }) => void;
  fail: (error: unknown) => void;
};

/** A queue whose transfers the test ends, and what it has reported. */
function queueOf() {
  const transfers: Transfer[] = [];
  const reports: string[] = [];
  const changes: number[] = [];
  const queue = new UploadQueue(
    ({ name }, handlers) => {
      const { promise, resolve: arrive, reject: fail } = Promise.withResolvers<{ videoId: string }>();
      transfers.push({ ...handlers, name, arrive, fail });
      return promise;
    },
    {
      onChange: ({ length }) => changes.push(length),
      onProgress: ({ file, sent }) => reports.push(`${file.name} ${sent}`),
      onComplete: ({ file }, videoId, ticket) => reports.push(`${file.name} ${videoId} ${ticket?.embed}`),
      onError: ({ file, error }) => reports.push(`${file.name} ${error}`),
    },
  );
  const states = () => queue.items.map(({ file, state }) => `${file.name} ${state}`);
  return { queue, transfers, reports, changes, states };
}

const file = (name: string) => new File(['12345'], name, { lastModified: 1 });
/** Lets promises that are settled call their handlers. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

test('sends three files at the same time, and the next ones as they arrive', async () => {
  const { queue, transfers, reports, states } = queueOf();
  queue.add(['a', 'b', 'c', 'd'].map(file));
  expect(states()).toEqual(['a sending', 'b sending', 'c sending', 'd waiting']);
  transfers[0]?.onTicket({ videoId: 'vid_a', embed: 'https://e/' } as unknown as Ticket);
  transfers[0]?.onProgress(3);
  transfers[0]?.arrive({ videoId: 'vid_a' });
  await settle();
  expect(states()).toEqual(['a sent', 'b sending', 'c sending', 'd sending']);
  expect(reports).toEqual(['a 3', 'a vid_a https://e/']);
});

test('adds a file once until it has arrived', async () => {
  const { queue, transfers, states } = queueOf();
  queue.add([file('a'), file('a')]);
  queue.add([file('a')]);
  expect(states()).toEqual(['a sending']);
  transfers[0]?.arrive({ videoId: 'vid_a' });
  await settle();
  queue.add([file('a')]);
  expect(states()).toEqual(['a sent', 'a sending']);
});

test('a list of files is shown once, not once for each file', () => {
  const { queue, reports, changes } = queueOf();
  queue.refuse(['a', 'b', 'c'].map((name) => ({ file: file(name), error: 'refused' })));
  queue.refuse([]);
  queue.add(['d', 'e'].map(file));
  expect(changes).toEqual([3, 5]);
  expect(reports).toEqual(['a refused', 'b refused', 'c refused']);
});

test('a paused or removed file reports nothing any more, and a resumed one starts again', async () => {
  const { queue, transfers, reports, states } = queueOf();
  queue.add([file('a'), file('b')]);
  queue.pause(1);
  queue.remove(2);
  expect(transfers.map(({ signal }) => signal.aborted)).toEqual([true, true]);
  for (const { onProgress, fail } of transfers) {
    onProgress(5);
    fail(new Error('aborted'));
  }
  await settle();
  expect(reports).toEqual([]);
  expect(states()).toEqual(['a paused']);
  queue.resume(1);
  expect(states()).toEqual(['a sending']);
  expect(transfers.at(-1)?.signal.aborted).toBe(false);
});

test('no waiting file starts while all are paused', () => {
  const { queue, transfers, states } = queueOf();
  queue.add(['a', 'b', 'c', 'd', 'e'].map(file));
  queue.pauseAll();
  expect(transfers.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(states()).toEqual(['a paused', 'b paused', 'c paused', 'd paused', 'e paused']);
});

test('a failed file can be retried, a refused one cannot', async () => {
  const { queue, transfers, reports, states } = queueOf();
  queue.add([file('a')]);
  queue.refuse([{ file: file('b'), error: 'refused' }]);
  transfers[0]?.fail('lost');
  await settle();
  expect(reports).toEqual(['b refused', 'a lost']);
  queue.resume(1);
  queue.resume(2);
  expect(states()).toEqual(['a sending', 'b refused']);
  queue.pauseAll();
  expect(states()).toEqual(['a paused', 'b refused']);
});
