import { expect, test } from '@jest/globals';
import { permissionWords } from './permission-words.ts';

test('a permission has words; one of a later version has its name', () => {
  expect(permissionWords('videos:read')).toBe('View videos');
  expect(permissionWords('channels:read')).toBe('channels:read');
  expect(permissionWords('constructor')).toBe('constructor');
});
