import { expect, test } from '@jest/globals';
import { minimize } from './minimize.ts';

const has = (word: string) => async (input: Buffer) => input.includes(word);

test('leaves out all that is not needed', async () => {
  expect(String(await minimize(Buffer.from('some text and a-b and more text'), has('a-b'), 1000))).toBe(
    'a-b',
  );
  expect(String(await minimize(Buffer.from('a-b'), has('a-b'), 1000))).toBe('a-b');
  expect(String(await minimize(Buffer.from('anything'), has(''), 1000))).toBe('');
});

test('tries no more often than allowed', async () => {
  let tries = 0;
  const isEnough = async (input: Buffer) => {
    tries += 1;
    return input.includes('b');
  };
  expect(await minimize(Buffer.from('aaaaaaaaaaaaaaab'), isEnough, 3)).toHaveLength(4);
  expect(tries).toBe(3);
});
