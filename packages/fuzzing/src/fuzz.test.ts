import { Random } from '@framelane/test-kit/random';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BlockCoverage } from './block-coverage.ts';
import { distilled, fuzz } from './fuzz.ts';
import { countPairs, plantedTarget, readWord } from './planted.ts';

let coverage: BlockCoverage;

beforeAll(async () => {
  coverage = await BlockCoverage.start((url) => url.endsWith('/planted.ts'));
});
afterAll(() => coverage.stop());

async function search(run: (input: Buffer) => void, maxRuns: number) {
  await coverage.take();
  return fuzz(plantedTarget(run), {
    random: new Random(1),
    coverage,
    corpus: [],
    isOver: (runs) => runs >= maxRuns,
  });
}

test('finds an input that needs one right byte after the other, shortens it, and finds it again with the same seed', async () => {
  const { failure, pool, executions } = await search(readWord, 1_000_000);
  expect(failure?.input.toString()).toBe('bu');
  expect(failure?.reason).toMatch(/Found in 2 bytes/);
  expect(pool.map(String)).toEqual(expect.arrayContaining(['b']));
  expect((await search(readWord, 1_000_000)).executions).toBe(executions);
});

test('finds work that grows faster than the input', async () => {
  const { failure } = await search(countPairs, 100_000);
  expect(failure?.reason).toMatch(/^\d+ steps for \d+ bytes, more than \d+$/);
});

test('ends without a failure, with the fewest inputs that reach the same', async () => {
  const harmless = (input: Buffer) => readWord(input.subarray(0, 1));
  const { failure, executions } = await search(harmless, 64);
  expect(failure).toBeNull();
  expect(executions).toBeGreaterThanOrEqual(64);
  const inputs = ['bx', 'b', '', 'x', 'xb'].map((text) => Buffer.from(text));
  await coverage.take();
  expect((await distilled(plantedTarget(harmless), inputs, coverage)).map(String)).toEqual(['', 'b']);
});
