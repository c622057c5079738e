import { expect, test } from '@jest/globals';
import { createLogger } from './logger.ts';
import { stopInOrder } from './shutdown.ts';

test('runs the phases in order, also after one that fails or hangs', async () => {
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
