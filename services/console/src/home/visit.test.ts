import { expect, test } from '@jest/globals';
import { readVisit, visitAt } from './visit.ts';

const MINUTE = 60_000;
const NOW = Date.UTC(2026, 10, 30, 9);

test('a visit ends after half an hour without the console', () => {
  const first = visitAt(undefined, NOW, false);
  expect(first).toEqual({ since: null, seen: NOW });
  const later = visitAt(first, NOW + 30 * MINUTE, false);
  expect(later).toEqual({ since: null, seen: NOW + 30 * MINUTE });
  const next = visitAt(later, NOW + 61 * MINUTE, false);
  expect(next).toEqual({ since: NOW + 30 * MINUTE, seen: NOW + 61 * MINUTE });
  // A reload does not move the time since which things are new.
  expect(visitAt(next, NOW + 62 * MINUTE, false)).toEqual({
    since: NOW + 30 * MINUTE,
    seen: NOW + 62 * MINUTE,
  });
});

test('time in front of the console is no absence', () => {
  const first = visitAt(undefined, NOW, false);
  expect(visitAt(first, NOW + 90 * MINUTE, true)).toEqual({ since: null, seen: NOW + 90 * MINUTE });
});

test('a visit in the future is forgotten', () => {
  expect(visitAt({ since: NOW, seen: NOW + 1 }, NOW, false)).toEqual({ since: null, seen: NOW });
});

test('reads a stored visit', () => {
  for (const visit of [
    { since: null, seen: 1 },
    { since: 1, seen: 2 },
  ])
    expect(readVisit(JSON.stringify(visit))).toEqual(visit);
});

test.each([
  null,
  '',
  'x',
  'null',
  '{}',
  '{"since":1}',
  '{"since":"1","seen":2}',
  '{"since":null,"seen":"2"}',
])('%p is no visit', (stored) => expect(readVisit(stored)).toBeUndefined());
