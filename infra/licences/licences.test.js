import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { noticeOf } from '../../packages/web-build/src/notices.ts';
import { licenceTable, productionPackages } from './production-packages.js';

/** Licences that allow distribution with software under Apache-2.0, without conditions on that software. */
const ALLOWED = [
  '(MIT OR CC0-1.0)',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
];

test('every npm package in the images has an allowed licence', () => {
  // The images are built without optional dependencies, so productionPackages() leaves them out.
  const packages = productionPackages();
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(({ licence }) => !ALLOWED.includes(licence))).toEqual([]);
});

test('every npm package in the images and the pages has a licence text', () => {
  expect(productionPackages().filter(({ folder }) => !noticeOf(folder))).toEqual([]);
});

test('every kept licence text is of packages in the images or the pages', async () => {
  const folder = new URL('texts/', import.meta.url);
  const contents = await Promise.all(
    (await readdir(folder)).map((name) => readFile(new URL(name, folder), 'utf8')),
  );
  const named = contents.flatMap((text) => /^Packages: (.*)/.exec(text)[1].split(', '));
  const names = productionPackages().map(({ name }) => name);
  expect(named.filter((name) => !names.includes(name))).toEqual([]);
});

test('docs/licences.md lists the packages in the images', async () => {
  const page = await readFile(new URL('../../docs/licences.md', import.meta.url), 'utf8');
  expect(page).toContain(licenceTable(productionPackages()));
});
