import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../bootstrap/project.js';
import { PUBLISHED, publishedDependencies, publishedManifest, readManifest } from './published-packages.js';

/**
 * Compiles a package, and before it the published packages that it uses, into folders that npm can pack and publish:
 * `node infra/publish/build-package.js client`, then `npm pack ./packages/client/dist`. `--into <folder>` writes to `<folder>/client` instead.
 */

const { values, positionals } = parseArgs({ options: { into: { type: 'string' } }, allowPositionals: true });

const targetOf = (name) =>
  values.into === undefined ? join(ROOT, 'packages', name, 'dist') : resolve(values.into, name);

function buildPackage(name) {
  const dependencies = publishedDependencies(name);
  for (const dependency of dependencies) buildPackage(dependency);
  const source = join(ROOT, 'packages', name);
  const target = targetOf(name);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  const manifest = publishedManifest(name);
  if (manifest.imports) copyFileSync(join(ROOT, 'openapi/dist/types.ts'), join(target, 'openapi.d.ts'));
  compile(
    name,
    Object.assign({}, ...dependencies.map(typesOf), { '#openapi': [join(target, 'openapi.d.ts')] }),
  );
  for (const [file, folder] of [
    ['README.md', source],
    ['LICENSE', ROOT],
  ])
    copyFileSync(join(folder, file), join(target, file));
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Compiles with the types of built packages, because their sources are not part of this one. */
function compile(name, paths) {
  const target = targetOf(name);
  const settings = join(target, 'tsconfig.json');
  writeFileSync(
    settings,
    JSON.stringify({
      extends: join(ROOT, 'packages', name, 'tsconfig.build.json'),
      compilerOptions: { outDir: target, paths, typeRoots: [join(ROOT, 'node_modules/@types')] },
    }),
  );
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', settings], { stdio: 'inherit' });
  rmSync(settings);
}

/** Where the compiler finds the types of a built package. */
function typesOf(name) {
  const { name: published, exports } = readManifest(name);
  return Object.fromEntries(
    Object.entries(exports).map(([entry, path]) => [
      published + entry.slice(1),
      [join(targetOf(name), path.replace(/^\.\/src\//, '').replace(/\.ts$/, '.d.ts'))],
    ]),
  );
}

const [name] = positionals;
if (PUBLISHED.includes(name)) {
  buildPackage(name);
} else {
  process.stderr.write(`Name one of these packages: ${PUBLISHED.join(', ')}.\n`);
  process.exitCode = 1;
}
