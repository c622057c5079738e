import { text } from 'node:stream/consumers';
import { expect, jest, test } from '@jest/globals';
import { createElement } from 'react';
import { prerenderToNodeStream } from 'react-dom/static';
import { lazyPage } from './lazy-page.ts';

const Failure = ({ error }: { error: unknown }) => String(error);

async function textOf(page: ReturnType<typeof lazyPage>): Promise<string> {
  const { prelude } = await prerenderToNodeStream(createElement(page));
  return text(prelude);
}

test('a page is shown when its files are loaded', async () => {
  expect(await textOf(lazyPage(async () => () => 'Videos', Failure))).toContain('Videos');
});

test('an error is shown if the files of a page cannot be loaded, for instance after an upgrade', async () => {
  const logged = jest.spyOn(console, 'error').mockImplementation(() => {});
  const error = new TypeError('404');
  const load = () => Promise.reject(error);
  expect(await textOf(lazyPage(load, Failure))).toContain('TypeError: 404');
  expect(logged.mock.calls).toEqual([[error]]);
});
