import { expect, test } from '@jest/globals';
import { readTraceparent, writeTraceparent } from './traceparent.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a traceparent is read and written', () => {
  const sampled = `00-${TRACE}-${SPAN}-01`;
  expect(readTraceparent(sampled)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled: true });
  expect(readTraceparent(`00-${TRACE}-${SPAN}-02`)?.isSampled).toBe(false);
  expect(writeTraceparent({ traceId: TRACE, spanId: SPAN, isSampled: true })).toBe(sampled);
  expect(writeTraceparent({ traceId: TRACE, spanId: SPAN, isSampled: false })).toBe(`00-${TRACE}-${SPAN}-00`);
});

test('ids may begin with zeros', () => {
  expect(readTraceparent(`00-0${TRACE.slice(1)}-${'0'.repeat(15)}1-01`)).toBeDefined();
});

test('fields that a later version appends are ignored', () => {
  expect(readTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future-brings`)?.traceId).toBe(TRACE);
});

test.each([
  undefined,
  null,
  '',
  'traceparent',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.slice(1)}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-1`,
  `01-${TRACE}-${SPAN}-01${'-'.repeat(10_000)}`,
  ` 00-${TRACE}-${SPAN}-01`,
])('%s is no traceparent', (text) => {
  expect(readTraceparent(text)).toBeUndefined();
});
