import { describe, expect, test } from '@jest/globals';
import {
  formatJson,
  headerLines,
  isSoonDue,
  reasonOf,
  resultOf,
  webhookStatusWords,
} from './webhook-words.ts';

describe('the result of an attempt', () => {
  const error = {
    code: 'unexpected_status',
    message: 'The endpoint did not respond with a 2xx status.',
  } as const;
  test.each([
    ['no attempt', { responseStatus: null, error: null }, 'No attempt was made yet.'],
    ['a success', { responseStatus: 204, error: null }, 'Responded with 204.'],
    ['a refusal', { responseStatus: 502, error }, `Responded with 502. ${error.message}`],
    ['no response', { responseStatus: null, error }, error.message],
  ])('%s', (_, attempt, words) => {
    expect(resultOf(attempt)).toBe(words);
  });
});

test('an attempt in some hours is not soon', () => {
  const now = Date.parse('2026-11-26T12:00:00Z');
  const at = (nextAttemptAt: string | null) => [{ nextAttemptAt }];
  expect(
    ['2026-11-26T11:59:00Z', '2026-11-26T12:00:59Z', '2026-11-26T14:00:00Z', null].map((time) =>
      isSoonDue(at(time), now),
    ),
  ).toEqual([true, true, false, false]);
});

test('each reason why a webhook is disabled has words; an enabled webhook has none', () => {
  expect(reasonOf({ disabledReason: null })).toBeUndefined();
  for (const disabledReason of ['manual', 'gone', 'failing'] as const)
    expect(reasonOf({ disabledReason })).toMatch(/\.$/);
});

test('a webhook without an attempt is not used yet, or not since it was changed', () => {
  const lastDelivery = { id: 'whd_a' } as NonNullable<
    Parameters<typeof webhookStatusWords>[0]['lastDelivery']
  >;
  expect(webhookStatusWords({ deliveryStatus: 'pending', lastDelivery: null })).toBe('not used yet');
  expect(webhookStatusWords({ deliveryStatus: 'pending', lastDelivery })).toBe('not used since the change');
  expect(webhookStatusWords({ deliveryStatus: 'failing', lastDelivery })).toBe('failing');
});

test('JSON gets lines, and other texts stay as they are', () => {
  expect(formatJson('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
  expect(formatJson('<b>no JSON')).toBe('<b>no JSON');
});

test('headers have a line each, in a fixed order', () => {
  expect(headerLines({ 'webhook-id': 'evt_a', 'content-type': 'application/json' })).toBe(
    'content-type: application/json\nwebhook-id: evt_a',
  );
});
