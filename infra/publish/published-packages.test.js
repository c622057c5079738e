import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { ROOT } from '../bootstrap/project.js';
import { PUBLISHED, publishedManifest, readManifest } from './published-packages.js';

test('a package that can be built is published, and no other', () => {
  const buildable = readdirSync(join(ROOT, 'packages')).filter((name) =>
    existsSync(join(ROOT, 'packages', name, 'tsconfig.build.json')),
  );
  expect(buildable).toEqual(PUBLISHED);
});

describe.each(PUBLISHED)('the published package.json of %s', (name) => {
  const manifest = publishedManifest(name);

  test('has nothing of the workspace', () => {
    expect(JSON.stringify(manifest)).not.toMatch(/catalog:|workspace:|[^d]\.ts"|\/src\//);
    expect(manifest).not.toHaveProperty('private');
    expect(manifest).not.toHaveProperty('scripts');
    for (const version of Object.values(manifest.dependencies)) expect(version).toMatch(/^\^\d+\.\d+\.\d+$/);
  });

  test('says what a registry shows, and is public', () => {
    expect(manifest).toMatchObject({
      name: `@framelane/${name}`,
      version: JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version,
      description: expect.stringMatching(/\.$/),
      keywords: expect.arrayContaining(['hls']),
      license: 'Apache-2.0',
      type: 'module',
      engines: { node: expect.stringMatching(/^>=\d+\.\d+$/) },
      repository: { type: 'git', directory: `packages/${name}` },
      publishConfig: { access: 'public' },
    });
  });

  test('exports every entry of the workspace, and itself', () => {
    const { exports } = readManifest(name);
    expect(Object.keys(manifest.exports)).toEqual([...Object.keys(exports), './package.json']);
    for (const path of Object.values(exports))
      expect(existsSync(join(ROOT, 'packages', name, path))).toBe(true);
  });

  test('needs no Node that differs from what its README says', () => {
    const readme = readFileSync(join(ROOT, 'packages', name, 'README.md'), 'utf8');
    expect(readme).toContain(`Node ${manifest.engines.node.replace('>=', '')} or newer`);
    expect(readme).toContain(`npm install ${manifest.name}`);
  });
});
