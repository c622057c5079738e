import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
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
  const load = () => Promise.reject(new TypeError('404'));
  expect(await textOf(lazyPage(load, Failure))).toContain('TypeError: 404');
});
