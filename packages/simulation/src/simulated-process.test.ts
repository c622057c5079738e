import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { currentProcess, SimulatedProcess, whileAlive } from './simulated-process.ts';

test('code and what it awaits run as the process', async () => {
  const process = new SimulatedProcess('engine-1');
  const names = await process.run(async () => {
    const before = currentProcess()?.name;
    await turn();
    return [before, currentProcess()?.name];
  });
  expect(names).toEqual(['engine-1', 'engine-1']);
  expect(currentProcess()).toBeUndefined();
});

test('what a killed process waits for never settles', async () => {
  const process = new SimulatedProcess('engine-1');
  const outcomes: string[] = [];
  const [resolved, rejected] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  for (const { promise } of [resolved, rejected]) {
    process.run(() => {
      whileAlive(promise).then(
        () => outcomes.push('resolved'),
        () => outcomes.push('rejected'),
      );
    });
  }
  await process.kill();
  resolved.resolve();
  rejected.reject(new Error('too late'));
  await turn();
  expect(outcomes).toEqual([]);
});

test('a kill has its effects on other systems', async () => {
  const process = new SimulatedProcess('engine-1');
  const effects: boolean[] = [];
  process.onKill(() => void effects.push(process.isAlive));
  await process.kill();
  expect(effects).toEqual([false]);
  process.onKill(() => void effects.push(process.isAlive));
  expect(effects).toEqual([false, false]);
});
