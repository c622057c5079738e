import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ROOT } from '../bootstrap/project.js';
import { isNewer, released, sections } from './changelog.js';
import { problemsOfExceptions, problemsOfFiles, problemsOfPackage, problemsOfProgram } from './problems.js';
import { setVersion } from './set-version.js';
import { currentVersion, versionPlaces, versionsIn } from './version-places.js';

const PLACES = versionPlaces(ROOT);
const CHANGELOG = '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Clips.\n';

/** A copy of the files that have the version, with a changelog of one unreleased change. */
let root;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'framelane-release-'));
  for (const { path } of PLACES) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    cpSync(join(ROOT, path), join(root, path));
  }
  writeFileSync(join(root, 'CHANGELOG.md'), CHANGELOG);
});
afterEach(() => rmSync(root, { recursive: true }));

const read = (path) => readFileSync(join(root, path), 'utf8');
const edit = (path, change) => writeFileSync(join(root, path), change(read(path)));

test.each(PLACES)('$path has the version of Framelane', ({ path, pattern }) => {
  const found = versionsIn(readFileSync(join(ROOT, path), 'utf8'), pattern);
  expect([...new Set(found)]).toEqual([currentVersion(ROOT)]);
});

test('a new version is written everywhere in one step, and can be released', () => {
  setVersion(root, '9.8.7', '2026-12-01');
  expect(problemsOfFiles(root, { tag: 'v9.8.7' })).toEqual([]);
  for (const { path } of PLACES) expect(read(path)).not.toContain(`"${currentVersion(ROOT)}"`);
  expect(read('CHANGELOG.md')).toBe(
    '# Changelog\n\n## [Unreleased]\n\n## [9.8.7] - 2026-12-01\n\n### Added\n\n- Clips.\n',
  );
});

test('a second run changes nothing, also on a later day', () => {
  setVersion(root, '9.8.7', '2026-12-01');
  const written = () => PLACES.map(({ path }) => read(path)).concat(read('CHANGELOG.md'));
  const first = written();
  setVersion(root, '9.8.7', '2026-12-02');
  expect(written()).toEqual(first);
  edit('CHANGELOG.md', (text) =>
    text.replace('## [Unreleased]\n', '## [Unreleased]\n\n### Fixed\n\n- More.\n'),
  );
  expect(() => setVersion(root, '9.8.7', '2026-12-02')).toThrow('9.8.7 is not newer than 9.8.7');
});

test('the first version can be the one that is written already', () => {
  const version = currentVersion(root);
  setVersion(root, version, '2026-12-01');
  expect(problemsOfFiles(root)).toEqual([]);
});

test.each(['1.0', 'v1.0.0', '1.0.0-rc.1', '01.0.0', ''])(
  '"%s" is no version, and nothing is written',
  (version) => {
    expect(() => setVersion(root, version, '2026-12-01')).toThrow('three numbers');
    expect(read('CHANGELOG.md')).toBe(CHANGELOG);
  },
);

describe('what forbids a release', () => {
  beforeEach(() => setVersion(root, '9.8.7', '2026-12-01'));

  test.each(PLACES.filter(({ path }) => path !== 'package.json'))(
    'another version in $path',
    ({ path, pattern }) => {
      edit(path, (text) => text.replace(pattern, (match) => match.replace('9.8.7', '9.8.6')));
      expect(problemsOfFiles(root)).toEqual([`${path} has the version 9.8.6, package.json 9.8.7.`]);
      edit(path, (text) => text.replace(pattern, ''));
      expect(problemsOfFiles(root)).toEqual([`${path} has no version.`]);
    },
  );

  test('another tag', () => {
    expect(problemsOfFiles(root, { tag: '9.8.7' })).toEqual(['The tag is 9.8.7, the version 9.8.7.']);
  });

  test.each([
    ['unreleased changes', '## [Unreleased]\n', '## [Unreleased]\n\n- More.\n', 'has unreleased changes'],
    ['no date', ' - 2026-12-01', '', 'has no date'],
    ['no changes', '### Added\n\n- Clips.', '', 'has no changes of'],
    ['no section', '[9.8.7]', '[9.8.5]', 'has no section of 9.8.7'],
  ])('a changelog with %s', (_what, from, to, problem) => {
    edit('CHANGELOG.md', (text) => text.replace(from, to));
    expect(problemsOfFiles(root)).toEqual([expect.stringContaining(problem)]);
  });

  test('a package without a file that it names, or with files of no use', () => {
    const manifest = {
      name: 'p',
      exports: { '.': './index.js', './package.json': './package.json' },
      bin: { p: './main.js' },
    };
    const files = ['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'main.js', 'package.json'];
    expect(problemsOfPackage(manifest, files)).toEqual([]);
    expect(problemsOfPackage(manifest, files.slice(0, -3))).toEqual([
      'p lacks index.js.',
      'p lacks package.json.',
      'p lacks main.js.',
    ]);
    const needless = ['src/a.ts', 'a.test.js', 'tests/a.js'];
    expect(problemsOfPackage(manifest, [...files, ...needless])).toEqual(
      needless.map((path) => `p contains ${path}.`),
    );
  });
});

test('a packed program lacks no file that was built, and has no sources and tests', () => {
  const manifest = { name: 'p', bin: { p: './src/main.js' } };
  const built = ['LICENSE', 'README.md', 'node_modules/a/index.js', 'package.json', 'src/main.js'];
  expect(problemsOfProgram(manifest, built, built)).toEqual([]);
  expect(problemsOfProgram(manifest, ['LICENSE', 'README.md', 'package.json'], built)).toEqual([
    'p lacks src/main.js.',
    'p lacks node_modules/a/index.js.',
  ]);
  expect(problemsOfProgram(manifest, [...built, 'src/a.ts', 'src/a.test.js'], built)).toEqual([
    'p contains src/a.ts.',
    'p contains src/a.test.js.',
  ]);
});

describe('an exception of the scan', () => {
  const package_ = { name: 'ffmpeg' };
  const reason = 'until 2027-01-31: the decoder is not on the list of decoders.';
  const problemsOf = (exception) => problemsOfExceptions({ ignore: [exception] }, '2026-12-01');

  test('names its package, its reason and its end', () => {
    expect(problemsOf({ vulnerability: 'CVE-2026-1', package: package_, reason })).toEqual([]);
  });

  test.each([
    ['no package', { vulnerability: 'CVE-2026-1', reason }],
    ['no vulnerability', { package: package_, reason }],
    ['no reason', { vulnerability: 'CVE-2026-1', package: package_ }],
    ['no end', { vulnerability: 'CVE-2026-1', package: package_, reason: 'Not used.' }],
  ])('with %s forbids a release', (_what, exception) => {
    expect(problemsOf(exception)).toEqual([expect.stringContaining('needs a vulnerability, a package and')]);
  });

  test('whose end has passed forbids a release', () => {
    const old = {
      vulnerability: 'CVE-2026-1',
      package: package_,
      reason: reason.replace('2027-01-31', '2026-11-30'),
    };
    expect(problemsOf(old)).toEqual(['The exception CVE-2026-1 of ffmpeg was until 2026-11-30: review it.']);
  });
});

describe('the changelog', () => {
  test('is read by version', () => {
    const text = `${released(CHANGELOG, '0.2.0', '2026-12-01')}\n## [0.1.0] - 2026-11-01\n\n- First.\n`;
    expect(sections(text)).toEqual([
      { version: 'Unreleased', date: undefined, text: '' },
      { version: '0.2.0', date: '2026-12-01', text: '### Added\n\n- Clips.' },
      { version: '0.1.0', date: '2026-11-01', text: '- First.' },
    ]);
  });

  test('gets no version that is not newer, and none without changes', () => {
    const text = `${CHANGELOG}\n## [0.10.0] - 2026-11-01\n`;
    for (const version of ['0.10.0', '0.9.9']) expect(() => released(text, version, '')).toThrow('not newer');
    const empty = '# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-01\n';
    expect(() => released(empty, '0.2.0', '')).toThrow('"## [Unreleased]"');
  });

  test.each([
    ['0.2.0', '0.1.9', true],
    ['1.0.0', '0.99.0', true],
    ['0.1.10', '0.1.9', true],
    ['0.1.9', '0.1.10', false],
    ['0.1.0', '0.1.0', false],
  ])('%s newer than %s: %s', (version, other, expected) => {
    expect(isNewer(version, other)).toBe(expected);
  });
});
