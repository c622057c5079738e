import { expect, test } from '@jest/globals';
import { allPages, type Page } from './pages.ts';

const idOf = (entry: unknown) => (entry as { id?: string }).id;
const entries = (...ids: string[]) => ids.map((id) => ({ id }));

async function read(getPage: (position: number) => Page<number>): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for await (const { id } of allPages('Example', 1, async (position) => getPage(position), idOf))
    found.push(id);
  return found;
}

test('entries that a later page repeats are left out', async () => {
  const pages = [entries('a', 'b'), entries('b', 'c')];
  const list = read((page) => ({ entries: pages[page - 1] ?? [], next: page < 2 ? page + 1 : undefined }));
  expect(await list).toEqual(['a', 'b', 'c']);
});

test('a list that returns the same cursor ends with an error', async () => {
  await expect(read(() => ({ entries: entries('a'), next: 1 }))).rejects.toThrow('a page is repeated');
});

test('an empty page with a next one, and entries without an id, are no end', async () => {
  const pages = [[], [{}, {}], [{}]];
  const list = read((page) => ({ entries: pages[page - 1] ?? [], next: page < 3 ? page + 1 : undefined }));
  expect(await list).toEqual([undefined, undefined, undefined]);
});

test('a list that returns the same page for ever ends with an error', async () => {
  let requests = 0;
  const list = read((page) => {
    requests += 1;
    return { entries: entries('a', 'b'), next: page + 1 };
  });
  await expect(list).rejects.toThrow('a page is repeated');
  expect(requests).toBe(2);
});
