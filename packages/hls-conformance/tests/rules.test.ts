import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { loadPresentation } from '../src/load-presentation.ts';
import type { ServiceFacts } from '../src/rule.ts';
import { RULES } from '../src/rules.ts';
import { CODEC_MUTATIONS } from './support/codec-mutations.ts';
import { FRAGMENT_MUTATIONS } from './support/fragment-mutations.ts';
import { copyOf, type Format, type Media, makeMedia, publish } from './support/good-stream.ts';
import { MUTATIONS, type Mutation } from './support/mutations.ts';
import { StreamServer } from './support/stream-server.ts';

const RENDITIONS: Record<Format, string[]> = {
  ts: ['90p', '180p', 'audio'],
  m4s: ['90p', '180p', '90p-av1', '180p-av1', '90p-hevc', '180p-hevc', 'audio'],
};

/** The facts of a good stream. */
const factsOf = (format: Format): ServiceFacts => ({
  variants: ['90p', '180p'],
  storedSegments: [
    ...RENDITIONS[format].flatMap((name) => [0, 1, 2].map((at) => `${name}/${at}.${format}`)),
    ...[0, 1, 2, 3, 4, 5, 6].map((at) => `i-frames/${at}.${format}`),
  ],
});

/** The rules that do not apply to a packaging. */
const RULES_OF_OTHERS: Record<Format, string[]> = {
  ts: [
    ...['segments.initialization', 'segments.fragments', 'codecs.container', 'codecs.sample-entry'],
    ...[
      'codecs.parameter-sets',
      'codecs.sequence-header',
      'codecs.messages',
      'codecs.h264',
      'codecs.sdr',
      'codecs.ladders',
      'codecs.score',
    ],
  ],
  m4s: ['segments.tables', 'segments.continuity', 'codecs.sdr', 'codecs.score'],
};

let media: Record<Format, Media>;
let server: StreamServer;

beforeAll(async () => {
  media = { ts: await makeMedia('ts'), m4s: await makeMedia('m4s') };
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

test.each<Format>(['ts', 'm4s'])(
  'a good stream follows every rule, and all but those of other packagings apply to it: %s',
  async (format) => {
    server.files = publish(copyOf(media[format]));
    const others = (await verdicts(factsOf(format))).filter(({ outcome }) => outcome !== 'passed');
    expect(others.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(others.map(({ id }) => id).sort()).toEqual(RULES_OF_OTHERS[format].sort());
  },
);

/** Breaks the good stream of a packaging. */
async function expectBroken(
  format: Format,
  { breaks, also = [], media: alter, files, tamper, facts }: Mutation,
): Promise<void> {
  const copy = copyOf(media[format]);
  alter?.(copy, media[format]);
  server.files = publish(copy);
  files?.(server.files, copy);
  if (tamper) server.tamper = tamper;
  const broken = (await verdicts({ ...factsOf(format), ...facts })).filter(
    ({ outcome }) => outcome === 'failed',
  );
  expect(broken.map(({ id }) => id).sort()).toEqual([breaks, ...also].sort());
  for (const verdict of broken) {
    if (verdict.outcome !== 'failed') continue;
    for (const { place, message } of verdict.findings) expect([place, message]).not.toContain('');
  }
}

test.each(MUTATIONS)('$breaks: $what', (mutation) => expectBroken('ts', mutation));

test.each(FRAGMENT_MUTATIONS)('fragmented MP4: $breaks: $what', (mutation) => expectBroken('m4s', mutation));

test.each(CODEC_MUTATIONS)('codecs: $breaks: $what', (mutation) => expectBroken('m4s', mutation));

test('there is a broken stream for every rule', () => {
  const tried = new Set(
    [...MUTATIONS, ...FRAGMENT_MUTATIONS, ...CODEC_MUTATIONS].map(({ breaks }) => breaks),
  );
  expect(RULES.map(({ id }) => id).filter((id) => !tried.has(id))).toEqual([]);
});

test('ids of rules are unique', () => {
  expect(new Set(RULES.map(({ id }) => id)).size).toBe(RULES.length);
});
