import { expect, test } from '@jest/globals';
import { isBroken, stateWords } from './webhook-states.ts';

const webhook = (
  deliveryStatus: 'pending' | 'healthy' | 'failing' | 'disabled',
  disabledReason: 'manual' | 'gone' | 'failing' | null = null,
) => ({ deliveryStatus, disabledReason });

test('a webhook is broken if it fails, or if Framelane has disabled it', () => {
  expect(isBroken(webhook('failing'))).toBe(true);
  expect(isBroken(webhook('disabled', 'gone'))).toBe(true);
  expect(isBroken(webhook('disabled', 'failing'))).toBe(true);
  for (const fine of [webhook('healthy'), webhook('pending'), webhook('disabled', 'manual')])
    expect(isBroken(fine)).toBe(false);
});

test('the others are counted by their state', () => {
  const [works, waits, off] = [webhook('healthy'), webhook('pending'), webhook('disabled', 'manual')];
  expect(stateWords([works])).toBe('1 webhook works');
  expect(stateWords([works, works, waits, off])).toBe('2 webhooks work, 1 without an event yet, 1 disabled');
  expect(stateWords([waits])).toBe('Webhooks: 1 without an event yet');
});
