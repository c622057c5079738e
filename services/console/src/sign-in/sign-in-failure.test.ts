import { expect, test } from '@jest/globals';
import { failureWords, takeFailure } from './sign-in-failure.ts';

function take(hash: string) {
  const replaced: unknown[] = [];
  const history = {
    state: null,
    replaceState: (_state: unknown, _title: string, url: unknown) => void replaced.push(url),
  };
  return { failure: takeFailure({ hash, pathname: '/console/', search: '?q=a' }, history), replaced };
}

test('takes the failure and removes it from the address', () => {
  expect(take('#failure=denied&request=req_1')).toEqual({
    failure: { reason: 'denied', requestId: 'req_1' },
    replaced: ['/console/?q=a'],
  });
});

test.each(['', '#code=abc', '#request=req_1'])('%p has no failure and stays', (hash) => {
  expect(take(hash)).toEqual({ failure: undefined, replaced: [] });
});

test('there are words for every reason, and for an unknown one', () => {
  const reasons = [
    'unavailable',
    'misconfigured',
    'denied',
    'unverified',
    'not_added',
    'expired',
    'rejected',
    'too_many',
    'failed',
  ];
  const titles = reasons.map((reason) => failureWords(reason, 'Acme').title);
  expect(new Set(titles).size).toBe(reasons.length);
  expect(failureWords('<b>', 'Acme')).toEqual(failureWords('failed', 'Acme'));
});
