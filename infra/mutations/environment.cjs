const { TestEnvironment } = require('jest-environment-node');

/** Skips the rest of a file after its first failed test: one failure kills a mutant. */
module.exports = class extends TestEnvironment {
  #failed = false;

  handleTestEvent({ name, test }) {
    if (name === 'test_fn_failure' || name === 'hook_failure') this.#failed = true;
    if (name === 'test_start' && this.#failed) test.mode = 'skip';
  }
};
