import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/project.js';
import { PROGRAM } from '../publish/program-manifests.js';
import { PUBLISHED } from '../publish/published-packages.js';
import { problemsOfExceptions, problemsOfFiles, problemsOfPackage, problemsOfProgram } from './problems.js';

/**
 * `pnpm release:check [tag]` names everything that forbids a release of the checkout: changed files, versions that differ, a changelog
 * without the version, packages that lack files, and licences without a text.
 */

const run = (program, args) =>
  execFileSync(program, args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    // The list of the files of the program has 1.4 MB.
    maxBuffer: 64 * 1024 ** 2,
  });

const checks = {
  'The checkout has no changes': () => {
    const changed = run('git', ['status', '--porcelain']).trimEnd();
    return changed === '' ? [] : [`git status names changes:\n${changed}`];
  },
  'One version, and its changes': () => problemsOfFiles(ROOT, { tag: process.argv[2] }),
  'The descriptions of the API are generated': () =>
    outcomeOf('npm', ['run', '--silent', 'check', '--prefix', 'openapi']),
  'The exceptions of the scan have reasons and are up to date': () => {
    const exceptions = parse(readFileSync(join(ROOT, 'infra/release/scan-exceptions.yaml'), 'utf8'));
    return problemsOfExceptions(exceptions, new Date().toISOString().slice(0, 10));
  },
  'The packages can be packed': () => [
    ...PUBLISHED.flatMap(problemsOfPacking),
    ...problemsOfPackingProgram(),
  ],
  'Licences and versions of the images': () =>
    outcomeOf(join(ROOT, 'node_modules/.bin/jest'), [
      ...['--selectProjects', 'unit', '--testPathPatterns'],
      ...[
        'infra/licences',
        'infra/publish',
        'infra/release',
        'infra/compose',
        'infra/kubernetes',
        'infra/manifests',
      ],
    ]),
};

function problemsOfPacking(name) {
  const folder = join(ROOT, 'packages', name, 'dist');
  run(process.execPath, ['infra/publish/build-package.js', name]);
  return problemsOfPackage(readManifestIn(folder), filesPacked(folder));
}

function problemsOfPackingProgram() {
  const folder = join(ROOT, 'packages', PROGRAM, 'dist');
  run(process.execPath, ['infra/publish/build-program.js']);
  const built = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  return problemsOfProgram(readManifestIn(folder), filesPacked(folder), built);
}

/** The files that npm packs. */
function filesPacked(folder) {
  const [{ files }] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', folder]));
  return files.map(({ path }) => path);
}

function readManifestIn(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}

/** No problem if a program succeeds. */
function outcomeOf(program, args) {
  run(program, args);
  return [];
}

/** The problems that a check finds, or what a program printed that failed in it. */
function problemsOf(check) {
  try {
    return check();
  } catch ({ message, stdout = '', stderr = '' }) {
    return [`${stdout}${stderr}`.trim() || message];
  }
}

for (const [title, check] of Object.entries(checks)) {
  const problems = problemsOf(check);
  console.log(`${problems.length === 0 ? '✓' : '✗'} ${title}`);
  for (const problem of problems) console.log(problem.replace(/^/gm, '    '));
  if (problems.length > 0) process.exitCode = 1;
}
