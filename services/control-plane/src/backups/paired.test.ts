import { expect, test } from '@jest/globals';
import { merged, paired } from './paired.ts';

async function* entries(...keys: string[]) {
  for (const key of keys) yield { key };
}

/** The keys of pairs, and which streams have each. */
async function pairs(left: string[], right: string[]): Promise<string[]> {
  const found = await Array.fromAsync(paired(entries(...left), entries(...right)));
  return found.map((pair) => `${pair.key}${pair.left ? '<' : ''}${pair.right ? '>' : ''}`);
}

test.each([
  [[], [], []],
  [
    ['a', 'b'],
    ['b', 'c'],
    ['a<', 'b<>', 'c>'],
  ],
  [[], ['a', 'b'], ['a>', 'b>']],
  [['a', 'b'], [], ['a<', 'b<']],
  // "-" and "." precede the slash in ASCII, letters and digits follow it.
  [
    ['v-1/a', 'v/a', 'v0/a'],
    ['v/a', 'va/a'],
    ['v-1/a<', 'v/a<>', 'v0/a<', 'va/a>'],
  ],
  // In UTF-8, but not in UTF-16, U+FFFD precedes U+1F600.
  [['\uFFFD'], ['\u{1F600}'], ['\uFFFD<', '\u{1F600}>']],
])('%j and %j are paired as %j', async (left, right, expected) => {
  expect(await pairs(left, right)).toEqual(expected);
});

test.each([[['b', 'a']], [['a', 'a']], [['\u{1F600}', '\uFFFD']]])(
  'a stream in another order is refused: %j',
  async (keys) => {
    await expect(pairs(keys, [])).rejects.toThrow(/is listed after/);
    await expect(pairs([], keys)).rejects.toThrow(/is listed after/);
  },
);

test('both streams are closed when the reader stops', async () => {
  const closed: string[] = [];
  async function* closing(name: string) {
    try {
      yield* entries('a', 'b');
    } finally {
      closed.push(name);
    }
  }
  for await (const _ of paired(closing('left'), closing('right'))) break;
  expect(closed).toEqual(['left', 'right']);
});

test('of several streams, the first one that has a key has the entry', async () => {
  async function* numbered(number: number, ...keys: string[]) {
    for (const key of keys) yield { key, number };
  }
  const streams = [numbered(1, 'b', 'd'), numbered(2, 'a', 'b'), numbered(3, 'b', 'c', 'd')];
  const found = await Array.fromAsync(merged(streams));
  expect(found.map(({ key, number }) => `${key}${number}`)).toEqual(['a2', 'b1', 'c3', 'd1']);
  expect(await Array.fromAsync(merged([]))).toEqual([]);
});
