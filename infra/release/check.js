import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/project.js';
import { PUBLISHED } from '../publish/published-packages.js';
import { problemsOfExceptions, problemsOfFiles, problemsOfPackage } from './problems.js';

/**
 * `pnpm release:check [tag]` names everything that forbids a release of the checkout: changed files, versions that differ, a changelog
 * without the version, packages that lack files, and licences without a text.
 */

const run = (program, args, options = {}) =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], ...options });

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
  'The packages can be packed': () => PUBLISHED.flatMap(problemsOfPacking),
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
  const [{ files }] = JSON.parse(run('npm', ['pack', '--dry-run', '--json', folder]));
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return problemsOfPackage(
    manifest,
    files.map(({ path }) => path),
  );
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
