const { readFileSync } = require('node:fs');
const { TestEnvironment } = require('jest-environment-node');

/** Ends a run soon: one failed test kills a mutant. Without a mutant, tests run as usual. */
module.exports = class extends TestEnvironment {
  #tests = process.env.__STRYKER_ACTIVE_MUTANT__ && JSON.parse(readFileSync('tests.json', 'utf8'));
  #failed = false;

  handleTestEvent({ name, test }) {
    if (!this.#tests) return;
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#failed = true;
    if (name === 'test_start') {
      // Skips the rest of a file after its first failed test.
      if (this.#failed) test.mode = 'skip';
      test.timeout = this.#timeoutOf(test);
    }
  }

  /** A test that waits for what a mutant prevents would wait for its whole timeout. */
  #timeoutOf(test) {
    const names = [];
    for (let part = test; part.parent; part = part.parent) names.unshift(part.name);
    const earlier = this.#tests[names.join(' ')] ?? [];
    return 3000 + 4 * Math.max(0, ...earlier.map(({ timeSpentMs }) => timeSpentMs));
  }
};
