/**
 * What tests import from `@jest/globals`. Helpers of tests remain loaded for the next test file, so a call of `test`, or of a `test.skip`
 * that a helper keeps, leads to the function of the test file that runs.
 */
let current = {};

/** Sets the functions of the next test file. */
export function setGlobals(globals) {
  current = globals;
}

export const afterAll = lookedUp(() => current.afterAll);
export const afterEach = lookedUp(() => current.afterEach);
export const beforeAll = lookedUp(() => current.beforeAll);
export const beforeEach = lookedUp(() => current.beforeEach);
export const describe = lookedUp(() => current.describe);
export const expect = lookedUp(() => current.expect);
export const jest = lookedUp(() => current.jest);
export const test = lookedUp(() => current.test);

/** A function that calls another one, which it looks up for each call. The same holds for its methods. */
function lookedUp(find) {
  return new Proxy(() => {}, {
    apply: (_target, self, args) => Reflect.apply(find(), self, args),
    get: (_target, property) => {
      const value = find()[property];
      return typeof value === 'function' ? lookedUp(() => find()[property]) : value;
    },
  });
}
