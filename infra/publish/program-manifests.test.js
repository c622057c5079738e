import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from '../bootstrap/project.js';
import { compiledManifest, programManifest, withDependencies } from './program-manifests.js';

const FOLDER = join(ROOT, 'packages/framelane');
const manifest = JSON.parse(readFileSync(join(FOLDER, 'package.json'), 'utf8'));

test('a package names what is shipped, and runs nothing when it is installed', () => {
  const shipped = withDependencies(
    {
      name: 'a',
      exports: { './*': './src/*.ts' },
      scripts: { postinstall: 'node x.js' },
      dependencies: { b: '^1' },
      optionalDependencies: { c: '^1' },
      peerDependencies: { d: '^1' },
    },
    { b: '1.2.3' },
  );
  expect(compiledManifest(shipped)).toEqual({
    name: 'a',
    exports: { './*': './src/*.js' },
    dependencies: { b: '1.2.3' },
  });
});

test('the program has all dependencies in its package, except PostgreSQL in an exact version', () => {
  const program = programManifest({ ...compiledManifest(manifest), dependencies: { express: '5.0.0' } });
  expect(program).toMatchObject({
    name: 'framelane',
    version: JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version,
    description: expect.stringMatching(/\.$/),
    license: 'Apache-2.0',
    bin: { framelane: 'src/main.js' },
    bundleDependencies: ['express'],
    repository: { type: 'git', directory: 'packages/framelane' },
  });
  expect(JSON.stringify(program)).not.toMatch(/catalog:|workspace:|\.ts"|"scripts"|"private"/);
  for (const version of Object.values(program.optionalDependencies))
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
});

test('the program, its README and the services need the same Node', () => {
  const oldest = /^>=([\d.]+)$/.exec(manifest.engines.node)?.[1];
  expect(existsSync(join(FOLDER, manifest.bin.framelane))).toBe(true);
  expect(readFileSync(join(FOLDER, manifest.bin.framelane), 'utf8')).toContain(`OLDEST_NODE = '${oldest}'`);
  expect(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).engines).toEqual(manifest.engines);
  expect(readFileSync(join(FOLDER, 'README.md'), 'utf8')).toContain(`Node ${oldest} or newer`);
});
