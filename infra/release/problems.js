import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sections } from './changelog.js';
import { currentVersion, versionPlaces, versionsIn } from './version-places.js';

/** What forbids a release of the files below `root`, except for the names of files that git reports. An empty list if nothing does. */
export function problemsOfFiles(root, { tag } = {}) {
  const version = currentVersion(root);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  return [
    ...(tag === undefined || tag === `v${version}` ? [] : [`The tag is ${tag}, the version ${version}.`]),
    ...problemsOfPlaces(root, version),
    ...problemsOfChangelog(changelog, version),
  ];
}

function problemsOfPlaces(root, version) {
  return versionPlaces(root).flatMap(({ path, pattern }) => {
    const found = versionsIn(readFileSync(join(root, path), 'utf8'), pattern);
    if (found.length === 0) return [`${path} has no version.`];
    const others = found.filter((each) => each !== version);
    return others.length === 0 ? [] : [`${path} has the version ${others[0]}, package.json ${version}.`];
  });
}

function problemsOfChangelog(changelog, version) {
  const [unreleased, newest] = sections(changelog);
  if (unreleased?.version !== 'Unreleased' || newest?.version !== version)
    return [
      `CHANGELOG.md has no section of ${version} below "Unreleased": run pnpm release:version ${version}.`,
    ];
  return [
    ...(unreleased.text === '' ? [] : ['CHANGELOG.md has unreleased changes.']),
    ...(/^\d{4}-\d\d-\d\d$/.test(newest.date) ? [] : [`CHANGELOG.md has no date for ${version}.`]),
    ...(newest.text.startsWith('### ') ? [] : [`CHANGELOG.md has no changes of ${version}.`]),
  ];
}

/**
 * What is wrong with the exceptions of the scan (scan-exceptions.yaml, parsed) on a day (ISO 8601). An exception without a package
 * would also hide the vulnerability elsewhere.
 */
export function problemsOfExceptions({ ignore }, today) {
  return ignore.flatMap(({ vulnerability, reason, package: { name } = {} }) => {
    const [, until] = /^until (\d{4}-\d\d-\d\d): \S/.exec(reason ?? '') ?? [];
    if (vulnerability === undefined || name === undefined || until === undefined)
      return [
        `The exception ${vulnerability ?? name} needs a vulnerability, a package and "until <date>: <reason>".`,
      ];
    return until < today ? [`The exception ${vulnerability} of ${name} was until ${until}: review it.`] : [];
  });
}

/** What is wrong with the files of a packed package, as `npm pack --json` lists them. */
export function problemsOfPackage({ name, exports, bin = {} }, files) {
  const entries = [...Object.values(exports), ...Object.values(bin)].map((path) => path.replace(/^\.\//, ''));
  const types = Object.values(exports)
    .filter((path) => path.endsWith('.js'))
    .map((path) => path.replace(/^\.\/(.*)\.js$/, '$1.d.ts'));
  const missing = ['README.md', 'LICENSE', ...entries, ...types].filter((path) => !files.includes(path));
  const needless = files.filter((path) => /(^|\/)(tests?|node_modules)\/|\.test\.|(?<!\.d)\.ts$/.test(path));
  return [
    ...missing.map((path) => `${name} lacks ${path}.`),
    ...needless.map((path) => `${name} contains ${path}.`),
  ];
}

/** What is wrong with the files of the packed program. `built` are the files in the folder of its package, all of which it needs. */
export function problemsOfProgram({ name, bin }, files, built) {
  const needed = [
    'README.md',
    'LICENSE',
    ...Object.values(bin).map((path) => path.replace(/^\.\//, '')),
    ...built,
  ];
  const missing = [...new Set(needed)].filter((path) => !files.includes(path));
  const needless = files.filter((path) => /\.test\.[cm]?js$|\.ts$/.test(path));
  return [
    ...missing.map((path) => `${name} lacks ${path}.`),
    ...needless.map((path) => `${name} contains ${path}.`),
  ];
}
