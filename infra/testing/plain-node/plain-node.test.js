import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ROOT } from '../../bootstrap/project.js';

const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');

/** Test files, in the order in which one worker runs them. `shared.ts` is a helper of both. */
const FILES = {
  'shared.ts': `
    import { expect, test } from '@jest/globals';
    export const skippedTest = test.skip;
    export const loads: string[] = [];
    export const expectTwo = (value: number) => expect(value).toBe(2);`,
  'a.test.ts': `
    import { expect, jest, test } from '@jest/globals';
    import { expectTwo, loads, skippedTest } from './shared.ts';
    loads.push('a');
    jest.setTimeout(5_000);
    skippedTest('is skipped', () => {});
    test('passes', () => expectTwo(2));
    test('fails', () => expectTwo(1));
    test.failing('fails as expected', () => expectTwo(1));
    test('hangs', () => new Promise(() => {}), 50);
    test('changes what other files use', () => {
      process.env.LEFT = 'a';
      delete process.env.GIVEN;
      jest.spyOn(Math, 'random').mockReturnValue(7);
      jest.useFakeTimers({ now: 0 });
      jest.spyOn(globalThis, 'clearTimeout');
      console.log = () => {};
      expect([Math.random(), Date.now()]).toEqual([7, 0]);
      jest.useRealTimers();
    });`,
  'b.test.ts': `
    import nodeModule from 'node:module';
    import timers from 'node:timers';
    import { expect, test } from '@jest/globals';
    import { loads, skippedTest } from './shared.ts';
    skippedTest('is skipped too', () => {});
    test('sees none of the changes', () => {
      expect([process.env.LEFT, process.env.GIVEN]).toEqual([undefined, 'given']);
      expect(Math.random()).toBeLessThan(1);
      expect(Date.now()).toBeGreaterThan(1e12);
      expect(clearTimeout).toBe(timers.clearTimeout);
      expect(String(console.log)).not.toBe('() => {}');
    });
    test('has the modules of Node', () => expect(process.getBuiltinModule('module')).toBe(nodeModule));
    test('gets the same helpers', () => expect(loads).toEqual(['a']));
    test('has the usual time limit', () => new Promise(() => {}));`,
  'order.cjs': `
    module.exports = class {
      sort = (tests) => tests.toSorted((x, y) => (x.path < y.path ? -1 : 1));
      allFailedTests = () => [];
      cacheResults() {}
    };`,
};

let directory;
/** By file: the results of its tests. */
let results;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'plain-node-'));
  for (const [name, content] of Object.entries(FILES)) await writeFile(join(directory, name), content);
  const config = {
    rootDir: directory,
    runtime: join(import.meta.dirname, 'runtime.js'),
    testEnvironment: join(import.meta.dirname, 'environment.js'),
    transform: {},
    testTimeout: 300,
    testSequencer: join(directory, 'order.cjs'),
  };
  const report = join(directory, 'report.json');
  const args = ['--config', JSON.stringify(config), '--runInBand', '--json', `--outputFile=${report}`];
  const env = { ...process.env, GIVEN: 'given' };
  // Some tests fail.
  await expect(promisify(execFile)(process.execPath, [JEST, ...args], { env })).rejects.toMatchObject({
    code: 1,
  });
  const { testResults } = JSON.parse(await readFile(report, 'utf8'));
  results = testResults
    .toSorted((x, y) => (x.name < y.name ? -1 : 1))
    .map(({ assertionResults }) => assertionResults);
});
afterAll(() => rm(directory, { recursive: true }));

const statuses = (tests) => tests.map(({ title, status }) => [title, status]);

test('tests pass, fail and exceed their time limit', () => {
  expect(statuses(results[0])).toEqual([
    ['is skipped', 'pending'],
    ['passes', 'passed'],
    ['fails', 'failed'],
    ['fails as expected', 'passed'],
    ['hangs', 'failed'],
    ['changes what other files use', 'passed'],
  ]);
});

test('the next file in a worker gets the same modules, and nothing else that the previous one changed', () => {
  expect(statuses(results[1])).toEqual([
    ['is skipped too', 'pending'],
    ['sees none of the changes', 'passed'],
    ['has the modules of Node', 'passed'],
    ['gets the same helpers', 'passed'],
    ['has the usual time limit', 'failed'],
  ]);
  expect(results[1].at(-1).failureMessages[0]).toContain('Exceeded timeout of 300 ms');
});
