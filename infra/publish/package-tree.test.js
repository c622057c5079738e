import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ROOT } from '../bootstrap/project.js';
import { packageTree } from './package-tree.js';

let folder;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'framelane-tree-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Packages such as `b@1`, with their dependencies, installed as pnpm does. The first one is the root. */
function install(packages) {
  const at = (id) => join(folder, id, 'node_modules', id.split('@')[0]);
  for (const [id, fields] of Object.entries(packages)) {
    const [name, version] = id.split('@');
    mkdirSync(at(id), { recursive: true });
    const { links = [], ...manifest } = fields;
    writeFileSync(join(at(id), 'package.json'), JSON.stringify({ name, version, ...manifest }));
    for (const link of links) symlinkSync(at(link), join(dirname(at(id)), link.split('@')[0]));
  }
  return at(Object.keys(packages)[0]);
}

/** The version at each path. */
const treeOf = (root, isLeftOut) =>
  Object.fromEntries(
    packageTree(root, isLeftOut).map(({ path, source }) => [
      path,
      source.slice(folder.length + 1).split('/')[0],
    ]),
  );

test('equal versions are at the top, and another one is below its dependant', () => {
  const root = install({
    'a@1': { dependencies: { b: '*', c: '*' }, links: ['b@1', 'c@1'] },
    'b@1': { dependencies: { c: '*', d: '*' }, links: ['c@2', 'd@1'] },
    'c@1': {},
    'c@2': { dependencies: { d: '*' }, links: ['d@2'] },
    'd@1': { dependencies: { b: '*' }, links: ['b@1'] },
    'd@2': {},
  });
  expect(treeOf(root)).toEqual({
    '': 'a@1',
    'node_modules/b': 'b@1',
    'node_modules/c': 'c@1',
    'node_modules/b/node_modules/c': 'c@2',
    'node_modules/d': 'd@1',
    'node_modules/b/node_modules/c/node_modules/d': 'd@2',
  });
});

test('peers and optional packages are in it if they are installed, and no others', () => {
  const root = install({
    'a@1': {
      dependencies: { b: '*' },
      optionalDependencies: { c: '*', missing: '*' },
      devDependencies: { e: '*' },
      links: ['b@1', 'c@1', 'e@1'],
    },
    'b@1': { peerDependencies: { d: '*', absent: '*' }, links: ['d@1'] },
    'c@1': {},
    'd@1': {},
    'e@1': {},
  });
  expect(Object.keys(treeOf(root, (name) => name === 'c'))).toEqual(['', 'node_modules/b', 'node_modules/d']);
});

test('each package of the program finds the versions that are installed here', () => {
  const packages = packageTree(join(ROOT, 'packages/framelane'), (name) => name === 'vite');
  const at = new Map(packages.map(({ path, source }) => [path, source]));
  expect(packages.length).toBeGreaterThan(150);
  for (const { path, source, dependencies } of packages)
    for (const [name, installed] of Object.entries(dependencies)) {
      let place = path;
      // As Node looks for a package.
      while (!at.has(join(place, 'node_modules', name)) && place !== '')
        place = place.slice(0, Math.max(0, place.lastIndexOf('node_modules/') - 1));
      expect([source, name, at.get(join(place, 'node_modules', name))]).toEqual([source, name, installed]);
    }
});
