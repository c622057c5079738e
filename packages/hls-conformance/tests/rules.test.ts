import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { loadPresentation } from '../src/load-presentation.ts';
import type { ServiceFacts } from '../src/rule.ts';
import { RULES } from '../src/rules.ts';
import { copyOf, type Media, makeMedia, publish } from './support/good-stream.ts';
import { MUTATIONS } from './support/mutations.ts';
import { StreamServer } from './support/stream-server.ts';

/** The facts of the good stream. */
const FACTS: ServiceFacts = {
  variants: ['90p', '180p'],
  storedSegments: [
    ...['90p', '180p', 'audio'].flatMap((name) => [0, 1, 2].map((at) => `${name}/${at}.ts`)),
    ...[0, 1, 2, 3, 4, 5, 6].map((at) => `i-frames/${at}.ts`),
  ],
};

let media: Media;
let server: StreamServer;

beforeAll(async () => {
  media = await makeMedia();
  server = await StreamServer.start();
});
beforeEach(() => {
  server.tamper = () => {};
});
afterAll(() => server.stop());

/** Checks the served stream against every rule. */
async function verdicts(facts: ServiceFacts) {
  const presentation = await loadPresentation(server.url, { playbackRequests: true });
  return RULES.map(({ id, check }) => ({ id, ...check(presentation, facts) }));
}

test('a good stream follows every rule, and every rule applies to it', async () => {
  server.files = publish(copyOf(media));
  const others = (await verdicts(FACTS)).filter(({ outcome }) => outcome !== 'passed');
  expect(others).toEqual([]);
});

test.each(MUTATIONS)('$breaks: $what', async ({ breaks, also = [], media: alter, files, tamper, facts }) => {
  const copy = copyOf(media);
  alter?.(copy, media);
  server.files = publish(copy);
  files?.(server.files, copy);
  if (tamper) server.tamper = tamper;
  const broken = (await verdicts({ ...FACTS, ...facts })).filter(({ outcome }) => outcome === 'failed');
  expect(broken.map(({ id }) => id).sort()).toEqual([breaks, ...also].sort());
  for (const verdict of broken) {
    if (verdict.outcome !== 'failed') continue;
    for (const { place, message } of verdict.findings) expect([place, message]).not.toContain('');
  }
});

test('there is a broken stream for every rule', () => {
  const tried = new Set(MUTATIONS.map(({ breaks }) => breaks));
  expect(RULES.map(({ id }) => id).filter((id) => !tried.has(id))).toEqual([]);
});

test('ids of rules are unique', () => {
  expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length);
});
