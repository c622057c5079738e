import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/project.js';
import { PUBLISHED, publishedManifest } from './published-packages.js';

/**
 * Compiles a package into a folder that npm can pack and publish: `node infra/publish/build-package.js client`, then
 * `npm pack ./packages/client/dist`.
 */

function buildPackage(name) {
  const source = join(ROOT, 'packages', name);
  const target = join(source, 'dist');
  const manifest = publishedManifest(name);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  if (manifest.imports) copyFileSync(join(ROOT, 'openapi/dist/types.ts'), join(target, 'openapi.d.ts'));
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', 'tsconfig.build.json'], {
    cwd: source,
    stdio: 'inherit',
  });
  for (const [file, folder] of [
    ['README.md', source],
    ['LICENSE', ROOT],
  ])
    copyFileSync(join(folder, file), join(target, file));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

const [name] = process.argv.slice(2);
if (PUBLISHED.includes(name)) {
  buildPackage(name);
} else {
  process.stderr.write(`Name one of these packages: ${PUBLISHED.join(', ')}.\n`);
  process.exitCode = 1;
}
