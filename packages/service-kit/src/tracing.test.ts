import { expect, test } from '@jest/globals';
import {
  activeSpan,
  activeTraceparent,
  continueTrace,
  type EntryOptions,
  inEntrySpan,
  loggedTrace,
  outsideTraces,
  type Span,
  serverOf,
  type Tracing,
  withSpan,
} from './tracing.ts';

type Started = {
  name: string;
  options: EntryOptions & { isLocal?: boolean };
  failure?: string;
  hasEnded: boolean;
};

/** Records spans. Their ids are their numbers. */
class FakeTracing implements Tracing {
  readonly started: Started[] = [];

  start(name: string, options: Started['options']): Span {
    const started: Started = { name, options, hasEnded: false };
    const number = this.started.push(started);
    return {
      traceparent: `00-trace-${number}-01`,
      set: () => {},
      fail: (type) => {
        started.failure ??= type;
      },
      end: () => {
        started.hasEnded = true;
      },
    };
  }

  async stop(): Promise<void> {}
}

test.each([
  ['https://user:secret@hooks.example/path?query', 'hooks.example', 443],
  ['http://127.0.0.1/', '127.0.0.1', 80],
  ['http://[::1]:8081', '[::1]', 8081],
])('the server of %s', (url, address, port) => {
  expect(serverOf(new URL(url))).toEqual({ 'server.address': address, 'server.port': port });
});

test('outside of traces, work just runs', async () => {
  expect(await withSpan('child', {}, async (span) => [span, activeSpan(), loggedTrace()])).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(await inEntrySpan(undefined, 'entry', {}, async (span) => span)).toBeUndefined();
  expect(continueTrace(undefined, '00-stored-1-01', activeTraceparent)).toBeUndefined();
});

test('spans nest along the calls, also when these take turns', async () => {
  const tracing = new FakeTracing();
  const child = () => withSpan('child', { kind: 'client' }, async () => loggedTrace());
  const entry = (parent: string) =>
    inEntrySpan(tracing, 'entry', { parent }, async (span) => {
      await new Promise(setImmediate);
      expect(activeSpan()).toBe(span);
      return child();
    });
  const logged = await Promise.all([entry('a'), entry('b')]);
  expect(tracing.started.map(({ name, options }) => [name, options.parent, options.isLocal])).toEqual([
    ['entry', 'a', undefined],
    ['entry', 'b', undefined],
    ['child', '00-trace-1-01', true],
    ['child', '00-trace-2-01', true],
  ]);
  expect(logged).toEqual([
    { trace_id: 'trace', span_id: '3' },
    { trace_id: 'trace', span_id: '4' },
  ]);
  expect(tracing.started.every(({ hasEnded }) => hasEnded)).toBe(true);
  expect(activeTraceparent()).toBeUndefined();
});

test('a stored trace continues without a span of its own', async () => {
  const tracing = new FakeTracing();
  await continueTrace(tracing, '00-stored-7-01', async () => {
    expect([activeTraceparent(), activeSpan(), loggedTrace()]).toEqual([
      '00-stored-7-01',
      undefined,
      { trace_id: 'stored', span_id: '7' },
    ]);
    await withSpan('child', {}, async () => {});
    expect(outsideTraces(() => [activeTraceparent()])).toEqual([undefined]);
    // Work without a stored trace does not continue that of whoever has woken it.
    expect(continueTrace(tracing, null, activeTraceparent)).toBeUndefined();
  });
  expect(tracing.started).toMatchObject([{ name: 'child', options: { parent: '00-stored-7-01' } }]);
});

test.each([
  [Object.assign(new Error('with a secret'), { code: 'ECONNRESET' }), 'ECONNRESET'],
  [new TypeError('with a secret'), 'TypeError'],
  ['with a secret', 'string'],
])('a span says by a code how its work failed: %p', async (error, failure) => {
  const tracing = new FakeTracing();
  const failing = inEntrySpan(tracing, 'entry', {}, async () => {
    throw error;
  });
  await expect(failing).rejects.toBe(error);
  expect(tracing.started).toMatchObject([{ failure, hasEnded: true }]);
});
