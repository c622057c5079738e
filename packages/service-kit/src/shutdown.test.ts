import { expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';
import { stopInOrder } from './shutdown.ts';

test('phases run in order; one that fails or hangs does not keep the next from running', async () => {
  const ran: string[] = [];
  const phase = (name: string, work: () => Promise<void>) => ({
    name,
    limitMs: 20,
    run: () => {
      ran.push(name);
      return work();
    },
  });
  await stopInOrder(
    [
      phase('fails', () => Promise.reject(new Error('no'))),
      phase('hangs', () => new Promise(() => {})),
      phase('works', async () => {}),
    ],
    createLogger({ service: 'test', level: 'silent' }),
  );
  expect(ran).toEqual(['fails', 'hangs', 'works']);
});
