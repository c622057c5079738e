import { expect, test } from '@jest/globals';
import { COMMAND_TYPES } from './messages.ts';
import { deadLetterQueue, QUEUES, queueFor } from './topology.ts';

test('each type of command has a queue of its own, so that no work waits behind that of another type', () => {
  const queues = COMMAND_TYPES.map(queueFor);
  expect(new Set(queues).size).toBe(COMMAND_TYPES.length);
  for (const [at, queue] of queues.entries()) expect(QUEUES[queue]).toEqual([COMMAND_TYPES[at]]);
  expect(queueFor('background')).toBe('engine.background');
});

test('the control plane takes all events from one queue', () => {
  const uploads = ['upload.progress', 'upload.completed', 'upload.aborted'] as const;
  const tasks = ['task.progress', 'task.completed', 'task.failed'] as const;
  expect([...uploads, ...tasks].map(queueFor)).toEqual(Array(6).fill('control-plane.events'));
});

test('a type without a queue is refused', () => {
  expect(() => queueFor('unknown' as 'plan')).toThrow('No queue takes messages of the type unknown');
});

test('a queue of dead letters is named for its queue', () => {
  expect(deadLetterQueue('engine.background')).toBe('engine.background.dead');
});
