import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/project.js';
import { PROGRAM } from '../publish/program-manifests.js';
import { PUBLISHED } from '../publish/published-packages.js';

const FOLDER = join(ROOT, '.github/workflows');
const WORKFLOWS = readdirSync(FOLDER).map((file) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  return { file, text, workflow: parse(text) };
});
const jobsOf = ({ jobs }) => Object.entries(jobs);
const stepsOf = (workflow) => jobsOf(workflow).flatMap(([, { steps }]) => steps);
const commandsOf = (workflow) => stepsOf(workflow).flatMap(({ run }) => run ?? []);
const find = (wanted) => WORKFLOWS.find(({ file }) => file === wanted).workflow;

/** The jobs that may write, and what. */
const WRITES = {
  'codeql.yml analyze': ['security-events'],
  'release.yml chart': ['id-token', 'packages'],
  'release.yml images': ['packages'],
  'release.yml notes': ['contents'],
  'release.yml packages': ['id-token'],
  'release.yml sign': ['id-token', 'packages'],
  'scorecard.yml analyze': ['id-token', 'security-events'],
};

describe.each(WORKFLOWS)('$file', ({ file, text, workflow }) => {
  test('gives no permission to all jobs but reading, and to each job only what it needs', () => {
    expect([{}, { contents: 'read' }]).toContainEqual(workflow.permissions);
    for (const [name, { permissions = {} }] of jobsOf(workflow)) {
      const written = Object.keys(permissions).filter((scope) => permissions[scope] !== 'read');
      expect([name, written.toSorted()]).toEqual([name, WRITES[`${file} ${name}`] ?? []]);
    }
  });

  test('names each action by its commit, with its version beside it', () => {
    const uses = [...text.matchAll(/uses: (.*)/g)].map(([, action]) => action);
    expect(uses).not.toEqual([]);
    for (const action of uses) expect(action).toMatch(/^[\w/.-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test('keeps no credentials after the checkout, and ends', () => {
    for (const { uses = '', with: options } of stepsOf(workflow))
      if (uses.startsWith('actions/checkout@'))
        expect(options).toMatchObject({ 'persist-credentials': false });
    for (const [, job] of jobsOf(workflow)) expect(job['timeout-minutes']).toBeGreaterThan(0);
  });

  test('runs no code of strangers with rights, and puts no text of events into commands', () => {
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    for (const command of commandsOf(workflow)) expect(command).not.toContain('${{');
  });

  test('calls scripts, files and tests that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    for (const command of commandsOf(workflow)) {
      for (const [, name] of command.matchAll(/\bpnpm (?!install\b)([\w:-]+)/g))
        expect(scripts).toHaveProperty(name);
      for (const [path] of command.matchAll(/(?<![\w@/"])(?:infra|\.ci)\/[\w./-]+/g))
        expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
    }
    for (const { with: options } of stepsOf(workflow))
      if (options?.config) expect(existsSync(join(ROOT, options.config))).toBe(true);
  });
});

test('the release builds and signs every image of the Dockerfile that compose names, and publishes every package', () => {
  const { services } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });
  const named = Object.values(services).flatMap(
    ({ image }) => /^ghcr\.io\/framelane\/([\w-]+):/.exec(image)?.[1] ?? [],
  );
  const images = [...new Set(named)].toSorted();
  for (const job of [
    find('release.yml').jobs.images,
    find('release.yml').jobs.sign,
    find('advisories.yml').jobs.scan,
  ])
    expect(job.strategy.matrix.image.toSorted()).toEqual(images);
  const commands = commandsOf(find('release.yml')).join('\n');
  expect(commands).toContain(`for package in ${[...PUBLISHED, PROGRAM].sort().join(' ')}; do`);
  expect(commands).toContain('for image in control-plane engine gateway; do');
  const dockerfile = readFileSync(join(ROOT, 'infra/docker/Dockerfile'), 'utf8');
  for (const image of images) expect(dockerfile).toMatch(new RegExp(`^FROM .* AS ${image}$`, 'm'));
});

test('nothing is published before all tests, the scan and the check of the system have passed', () => {
  const { jobs } = find('release.yml');
  expect(jobs.images.needs).toEqual(['check', 'test']);
  const { system, sign, packages, chart, notes } = jobs;
  expect([system, sign, packages, chart, notes].map(({ needs }) => needs)).toEqual([
    'images',
    'system',
    'sign',
    'sign',
    ['packages', 'chart'],
  ]);
  expect(commandsOf({ jobs: { system } }).at(-1)).toMatch(/ pnpm compose:check --released$/);
  expect(jobs.images.steps.at(-1).uses).toMatch(/^anchore\/scan-action@/);
});

test.each([
  ['release.yml', 'images'],
  ['advisories.yml', 'scan'],
])('the scan of %s fails if a serious flaw has a fix', (file, job) => {
  const { steps } = find(file).jobs[job];
  const { image, ...gate } = steps.find(({ uses }) => uses?.startsWith('anchore/scan-action@')).with;
  expect(gate).toEqual({
    'severity-cutoff': 'high',
    'only-fixed': true,
    'output-format': 'table',
    config: 'infra/release/scan-exceptions.yaml',
  });
});

test('the weekly tests with hostile files exist', () => {
  const [command] = commandsOf(find('hostile-files.yml')).filter((each) =>
    each.includes('test:engine-image'),
  );
  const files = readdirSync(join(ROOT, 'services/engine/tests'), { recursive: true });
  for (const pattern of command.split(' ').slice(2)) {
    expect([pattern, files.some((file) => file.includes(pattern) && file.endsWith('.test.ts'))]).toEqual([
      pattern,
      true,
    ]);
  }
});

test('Renovate groups its updates, and leaves what is pinned on purpose', () => {
  const { packageRules } = JSON.parse(readFileSync(join(ROOT, '.github/renovate.json'), 'utf8'));
  expect(packageRules.flatMap(({ groupName }) => groupName ?? [])).toEqual([
    'npm packages',
    'actions',
    'images',
  ]);
  const { patchedDependencies, catalog } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'));
  const alone = packageRules.find(({ groupName }) => groupName === null).matchPackageNames;
  expect(alone).toEqual(Object.keys(patchedDependencies).map((patched) => patched.replace(/@[^@]*$/, '')));
  const disabled = packageRules.filter(({ enabled }) => enabled === false);
  const names = disabled.flatMap(({ matchPackageNames = [], matchDepNames = [] }) => [
    ...matchPackageNames,
    ...matchDepNames,
  ]);
  for (const name of names.filter((each) => !each.includes('*'))) expect(catalog).toHaveProperty([name]);
});
