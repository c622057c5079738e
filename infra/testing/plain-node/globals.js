/**
 * What tests import from `@jest/globals`. Helpers of tests remain loaded for the next test file, so each name leads to the function of
 * the test file that runs.
 */
let current = {};

/** Sets the functions of the next test file. */
export function setGlobals(globals) {
  current = globals;
}

export const afterAll = currentFunction('afterAll');
export const afterEach = currentFunction('afterEach');
export const beforeAll = currentFunction('beforeAll');
export const beforeEach = currentFunction('beforeEach');
export const describe = currentFunction('describe');
export const expect = currentFunction('expect');
export const jest = currentFunction('jest');
export const test = currentFunction('test');

function currentFunction(name) {
  return new Proxy(() => {}, {
    apply: (_target, self, args) => Reflect.apply(current[name], self, args),
    get: (_target, property) => current[name][property],
  });
}
