import { expect, test } from '@jest/globals';
import { readCorpus } from './corpus.ts';
import { coverageOf, measure } from './run-input.ts';
import { loadTarget, TARGETS } from './targets.ts';

test('all targets are found', () => {
  expect(TARGETS.length).toBeGreaterThan(15);
});

test.each(TARGETS)('%s keeps its promises for all inputs that were ever kept', async (name) => {
  const target = await loadTarget(name);
  const inputs = readCorpus(name);
  expect(inputs).not.toEqual([]);
  const coverage = await coverageOf(target);
  try {
    for (const { name: file, input } of inputs) {
      const { reason } = await measure(target, input, coverage);
      expect([file, reason]).toEqual([file, null]);
    }
  } finally {
    await coverage.stop();
  }
});
