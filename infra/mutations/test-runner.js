import { readFileSync, writeFileSync } from 'node:fs';
import { strykerPlugins as jestPlugins } from '@stryker-mutator/jest-runner';

/** In Stryker's copy of the project: the tests and their files, by name. The first of several runner processes writes it. */
const TESTS = 'tests.json';

/**
 * Stryker's runner for jest, which loads all test files for each mutant. This one runs only the files with tests that reach
 * the mutant, one after another, until one kills it.
 */
function createRunner(injector) {
  const runner = jestPlugins[0].factory(injector);
  const { dryRun, mutantRun } = runner;
  return Object.assign(runner, {
    async dryRun(options) {
      const result = await dryRun.call(runner, options);
      const byTest = Object.groupBy(result.tests ?? [], ({ id }) => id);
      writeFileSync(TESTS, JSON.stringify(byTest));
      return result;
    },
    async mutantRun(options) {
      const byTest = JSON.parse(readFileSync(TESTS, 'utf8'));
      const names = options.testFilter ?? Object.keys(byTest);
      let result;
      for (const file of quickestFirst(names.flatMap((name) => byTest[name]))) {
        runner.jestConfig.testMatch = [file];
        const earlier = result?.nrOfTests ?? 0;
        result = await mutantRun.call(runner, options);
        result.nrOfTests += earlier;
        if (result.status !== 'survived') break;
      }
      return result;
    },
  });
}
createRunner.inject = jestPlugins[0].factory.inject;

/** The files of these tests, those whose tests take the least time first. */
function quickestFirst(tests) {
  const byFile = Object.entries(Object.groupBy(tests, ({ fileName }) => fileName));
  const ms = (testsOfFile) => testsOfFile.reduce((sum, { timeSpentMs }) => sum + timeSpentMs, 0);
  return byFile.toSorted(([, a], [, b]) => ms(a) - ms(b)).map(([file]) => file);
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'jest-by-file', factory: createRunner }];
