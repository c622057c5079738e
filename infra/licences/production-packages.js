import { readFileSync, realpathSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const ROOT = join(import.meta.dirname, '..', '..');

/**
 * The packages whose production dependencies are distributed: in the images and in the program. Those of the player, the console and the docs site
 * are in their built files.
 */
const DISTRIBUTED = [
  ...[
    'services/control-plane',
    'services/engine',
    'services/player',
    'services/console',
    'services/docs-site',
  ],
  'packages/framelane',
];

/**
 * The npm packages that the images and the program contain, sorted by name: the production dependencies of the services, of the program and
 * of the workspace packages that they use. Optional dependencies and the workspace packages themselves are left out. `licence` is an SPDX expression, or undefined;
 * `folder` is the installed package.
 */
export function productionPackages() {
  const found = new Map();
  const visit = (path) => {
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    const { name, version } = manifest;
    const id = `${name}@${version}`;
    if (found.has(id)) return;
    found.set(id, { name, version, licence: licenceOf(manifest), folder: dirname(path) });
    const { dependencies, peerDependencies } = manifest;
    for (const dependency of Object.keys({ ...dependencies, ...peerDependencies })) {
      const next = packageJsonOf(dependency, path);
      if (next !== undefined) visit(next);
    }
  };
  for (const folder of DISTRIBUTED) visit(join(ROOT, folder, 'package.json'));
  return [...found.values()]
    .filter(({ name }) => !/^(@framelane\/|framelane$)/.test(name))
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || a.version.localeCompare(b.version, 'en'));
}

/** Old packages have `licenses: [{ type }]`. */
function licenceOf({ license, licenses }) {
  return license ?? licenses?.map(({ type }) => type).join(' OR ');
}

/**
 * The package.json of a dependency; undefined if it is not installed: an optional peer, or a package that an override in
 * pnpm-workspace.yaml removes.
 */
function packageJsonOf(dependency, dependant) {
  try {
    // pnpm links packages; the dependencies of a package are beside its real folder.
    return realpathSync(findPackageJSON(dependency, pathToFileURL(dependant)));
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The packages as a Markdown table. */
export function licenceTable(packages) {
  const rows = packages.map(({ name, version, licence }) => `| ${name} | ${version} | ${licence} |`);
  return ['| package | version | licence |', '|---|---|---|', ...rows].join('\n');
}
