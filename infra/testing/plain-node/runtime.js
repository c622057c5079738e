import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import JestRuntime from 'jest-runtime';
import { setGlobals } from './globals.js';

const require = createRequire(import.meta.url);
/** Symbols of the global object under which the test framework keeps its state. */
const FRAMEWORK_STATE = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL'];
const GLOBALS = new URL('globals.js', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : nextResolve(specifier, context),
});

/** Test files that this worker has loaded. */
let loaded = 0;

/**
 * Lets Node load the test files, and all that they import, as it loads the services: see ADR 55. Jest's own runtime transforms
 * every module and evaluates it again for each test file.
 */
export default class PlainNodeRuntime extends JestRuntime {
  #environment;

  /** Throws in watch mode: after a change, a worker would test the modules that it has loaded before. */
  constructor(config, environment, ...others) {
    super(config, environment, ...others);
    const { watch, watchAll } = others.at(-1);
    if (watch || watchAll) throw new Error('Tests do not run in watch mode. Run them again instead.');
    this.#environment = environment;
  }

  /** Jest would replace `process.getBuiltinModule`. Its runtimes have a copy of `process`, but this one has that of Node. */
  installGetBuiltinModule() {}

  /** Loads the test framework. Each test file gets a new one, because the tests of a file are the state of its module. */
  requireInternalModule(path) {
    delete require.cache[path];
    for (const state of Object.getOwnPropertySymbols(globalThis)) {
      if (FRAMEWORK_STATE.includes(state.description)) delete globalThis[state];
    }
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    setGlobals({ ...globals, jest: this.#environment.jest });
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** Imports a test file. With the number, a file that runs again in a worker is evaluated again. */
  unstable_importModule(path) {
    loaded += 1;
    return import(`${pathToFileURL(path)}?loaded=${loaded}`);
  }
}
