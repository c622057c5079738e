import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/**
 * Compiles a package into a folder that npm can pack and publish: `node infra/publish/build-package.js client`, then
 * `npm pack packages/client/dist`. Its package.json has the versions of the catalog and exports the compiled modules.
 */

const ROOT = join(import.meta.dirname, '../..');
const REPOSITORY = 'git+https://github.com/framelane/framelane.git';
/** Fields that are copied as they are. */
const KEPT = ['name', 'version', 'description', 'keywords', 'license', 'type', 'sideEffects', 'engines'];

function buildPackage(name) {
  const source = join(ROOT, 'packages', name);
  const target = join(source, 'dist');
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
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
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(published(name, manifest), null, 2)}\n`);
}

function published(name, manifest) {
  return {
    ...Object.fromEntries(KEPT.filter((field) => field in manifest).map((field) => [field, manifest[field]])),
    repository: { type: 'git', url: REPOSITORY, directory: `packages/${name}` },
    ...(manifest.imports && { imports: { '#openapi': './openapi.d.ts' } }),
    exports: compiled(manifest.exports),
    ...(manifest.bin && { bin: compiled(manifest.bin) }),
    dependencies: withVersions(manifest.dependencies ?? {}),
  };
}

/** `./src/x.ts` → `./x.js`. TypeScript finds `./x.d.ts` beside it. */
function compiled(entries) {
  return Object.fromEntries(
    Object.entries(entries).map(([key, path]) => [
      key,
      path.replace(/^\.\/src\//, './').replace(/\.ts$/, '.js'),
    ]),
  );
}

function withVersions(dependencies) {
  const { catalog } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'));
  return Object.fromEntries(Object.keys(dependencies).map((name) => [name, catalog[name]]));
}

const [name] = process.argv.slice(2);
if (name === undefined || !existsSync(join(ROOT, 'packages', name, 'tsconfig.build.json'))) {
  process.stderr.write('Name a package that has a tsconfig.build.json, such as "client".\n');
  process.exitCode = 1;
} else {
  buildPackage(name);
}
