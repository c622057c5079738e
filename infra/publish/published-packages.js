import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/project.js';

/** The packages that npm gets, by their folders in `packages`. */
export const PUBLISHED = ['cli', 'client', 'elements', 'hls-conformance'];

const REPOSITORY = 'https://github.com/framelane/framelane';
/** Fields that are copied as they are. */
const KEPT = [
  ...['name', 'version', 'description', 'keywords', 'license', 'type', 'sideEffects', 'engines'],
  // Ranges, because the package of the user decides.
  ...['peerDependencies', 'peerDependenciesMeta'],
];

/** The published packages of the workspace that a package uses, by their folders. */
export function publishedDependencies(name) {
  const { dependencies = {} } = readManifest(name);
  return PUBLISHED.filter((each) => dependencies[readManifest(each).name] === 'workspace:*');
}

/** The package.json of a package in the workspace. */
export function readManifest(name) {
  return JSON.parse(readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'));
}

/** The package.json that npm gets. It names compiled modules, and versions in place of `catalog:`. */
export function publishedManifest(name) {
  const manifest = readManifest(name);
  return {
    ...Object.fromEntries(KEPT.filter((field) => field in manifest).map((field) => [field, manifest[field]])),
    ...aboutPackage(name),
    ...(manifest.imports && { imports: { '#openapi': './openapi.d.ts' } }),
    exports: { ...compiled(manifest.exports), './package.json': './package.json' },
    ...(manifest.bin && { bin: programsOf(compiled(manifest.bin)) }),
    dependencies: withVersions(manifest.dependencies ?? {}),
  };
}

/** What registries show of the package in a folder of `packages`. */
export function aboutPackage(name) {
  return {
    homepage: `${REPOSITORY}/tree/main/packages/${name}#readme`,
    bugs: `${REPOSITORY}/issues`,
    repository: { type: 'git', url: `git+${REPOSITORY}.git`, directory: `packages/${name}` },
    // npm keeps a new package with a scope private unless it is told otherwise.
    publishConfig: { access: 'public' },
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

/** `./main.js` → `main.js`, as npm writes it when it publishes. */
export function programsOf(bin) {
  return Object.fromEntries(Object.entries(bin).map(([name, path]) => [name, path.replace(/^\.\//, '')]));
}

/** Compatible versions, so that users get the fixes of a dependency without a release of ours. All packages of ours have the same version. */
function withVersions(dependencies) {
  const { catalog } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'));
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return Object.fromEntries(
    Object.entries(dependencies).map(([name, from]) => [
      name,
      `^${from === 'workspace:*' ? version : catalog[name]}`,
    ]),
  );
}
