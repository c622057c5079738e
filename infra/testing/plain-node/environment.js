import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** Where the test framework looks for the time limit of a file's tests. */
const TEST_TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');

/** What fake timers replace. A spy on one of them restores the fake function. */
const TIMERS = [
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'Date',
];

/**
 * A test environment of jest without a global object of its own: see ADR 55. After each test file it restores what the file or jest may
 * have replaced: mocks, timers, the time limit, environment variables, the console, `process.exit`.
 */
export default class PlainNodeEnvironment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  #before = { console: globalThis.console, exit: process.exit, env: { ...process.env } };
  #timers = Object.fromEntries(TIMERS.map((name) => [name, globalThis[name]]));

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  /** The functions of the object `jest` that the tests use. */
  get jest() {
    const { moduleMocker: mocker, fakeTimersModern: timers } = this;
    return {
      fn: (implementation) => mocker.fn(implementation),
      spyOn: (...property) => mocker.spyOn(...property),
      restoreAllMocks: () => mocker.restoreAllMocks(),
      useFakeTimers: (options) => timers.useFakeTimers(options),
      useRealTimers: () => timers.useRealTimers(),
      advanceTimersByTime: (milliseconds) => timers.advanceTimersByTime(milliseconds),
      advanceTimersByTimeAsync: (milliseconds) => timers.advanceTimersByTimeAsync(milliseconds),
      setSystemTime: (now) => timers.setSystemTime(now),
      setTimeout: (milliseconds) => {
        globalThis[TEST_TIMEOUT] = milliseconds;
      },
    };
  }

  /** Jest requires the method. There is no context, because the tests run with the global object of the process. */
  getVmContext() {
    return null;
  }

  async setup() {}

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    Object.assign(globalThis, this.#timers);
    delete globalThis[TEST_TIMEOUT];
    globalThis.console = this.#before.console;
    process.exit = this.#before.exit;
    for (const name of Object.keys(process.env)) if (!(name in this.#before.env)) delete process.env[name];
    Object.assign(process.env, this.#before.env);
  }
}
