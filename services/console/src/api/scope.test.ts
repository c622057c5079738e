import { afterAll, beforeEach, expect, test } from '@jest/globals';
import { chooseScope, chosenScope, forgetScope, keepDefaultScope, readScope } from './scope.ts';

function storage(): Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> {
  const entries = new Map<string, string>();
  return {
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => void entries.set(key, value),
    removeItem: (key) => void entries.delete(key),
  };
}

/** Node has none of these without an option. */
const STORAGES = ['sessionStorage', 'localStorage'] as const;

beforeEach(() => {
  for (const name of STORAGES) {
    Object.defineProperty(globalThis, name, { value: storage(), configurable: true });
  }
});
afterAll(() => {
  for (const name of STORAGES) Reflect.deleteProperty(globalThis, name);
});

test('a response for the former workspace does not undo a newer choice', () => {
  forgetScope();
  keepDefaultScope({ workspaceId: 'ws_1', environment: 'live' });
  expect(chosenScope()).toEqual({ workspaceId: 'ws_1', environment: 'live' });
  chooseScope({ workspaceId: 'ws_2', environment: 'test' });
  keepDefaultScope({ workspaceId: 'ws_1', environment: 'live' });
  expect(chosenScope()).toEqual({ workspaceId: 'ws_2', environment: 'test' });
  forgetScope();
  expect(chosenScope()).toBeUndefined();
});

test('reads a stored choice', () => {
  const scope = { workspaceId: 'ws_1', environment: 'test' };
  expect(readScope(JSON.stringify(scope))).toEqual(scope);
});

test.each([
  null,
  '',
  'x',
  'null',
  '{}',
  '{"workspaceId":"ws_1"}',
  '{"environment":"test"}',
  '{"workspaceId":"a\\nb","environment":"test"}',
])('%p is no choice', (stored) => {
  expect(readScope(stored)).toBeUndefined();
});
