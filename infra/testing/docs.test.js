import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { FAILURE_CODES } from '../../packages/contracts/src/failures.ts';
import { OLDEST_NODE } from '../bootstrap/check-machine.js';
import { ROOT } from '../bootstrap/project.js';

const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const filesBelow = (folder, extension) =>
  readdirSync(join(ROOT, folder), { recursive: true })
    .filter((name) => name.endsWith(extension) && !name.includes('node_modules'))
    .map((name) => join(folder, name));

const pages = [...readdirSync(ROOT).filter((name) => name.endsWith('.md')), ...filesBelow('docs', '.md')];
const troubleshooting = read('docs/troubleshooting.md');
const [, eventTable] = troubleshooting.split('\n## Log events\n');

const sources = ['services', 'packages']
  .flatMap((folder) => filesBelow(folder, '.ts'))
  .filter((path) => path.includes('/src/') && !path.endsWith('.test.ts'))
  .map(read)
  .join('\n');

test.each(pages)('the links of %s lead somewhere', (page) => {
  const links = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link);
  const broken = links.filter((link) => {
    const [path, anchor] = link.split('#');
    if (path.includes('://')) return false;
    const target = path === '' ? page : join(dirname(page), path);
    if (!existsSync(join(ROOT, target))) return true;
    return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).includes(anchor);
  });
  expect(broken).toEqual([]);
});

test.each(pages)('code blocks and tables of %s begin on a line of their own', (page) => {
  const lines = read(page).split('\n');
  const isJoined = (line) =>
    /\S.*```|```\S*\s.*\S/.test(line) ||
    (/\|-{3,}/.test(line) && !/^[\s>]*\|/.test(line)) ||
    /\| \|-{3,}/.test(line);
  expect(lines.filter(isJoined)).toEqual([]);
});

test('the pages name the versions of Node that the scripts, the services and the command line need', () => {
  const neededBy = (manifest) => JSON.parse(read(manifest)).engines.node.replace('>=', '');
  const forServices = neededBy('package.json');
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/Node ([\d.]+) or newer/g)].map(([, version]) => `${page}: ${version}`),
  );
  expect(named).toEqual([
    `CONTRIBUTING.md: ${OLDEST_NODE}`,
    `README.md: ${OLDEST_NODE}`,
    `docs/cli.md: ${neededBy('packages/cli/package.json')}`,
    `docs/configuration.md: ${forServices}`,
    `docs/deployment.md: ${forServices}`,
  ]);
});

test('the API descriptions have the version of Framelane', () => {
  const { version } = JSON.parse(read('package.json'));
  for (const name of ['openapi.yaml', 'internal.yaml', 'dist/openapi.json']) {
    expect([name, /^\s*"?version"?: "?([^",\n]+)/m.exec(read(`openapi/${name}`))?.[1]]).toEqual([
      name,
      version,
    ]);
  }
});

test('troubleshooting explains every failure code', () => {
  expect(FAILURE_CODES.filter((code) => !troubleshooting.includes(`\`${code}\``))).toEqual([]);
});

test('troubleshooting explains every warning and error of the log', () => {
  // `logger.log` gets the level first, often computed.
  const calls = /logger\.(?:(?:warn|error)\(|log\([^;]*?,)\s*'([a-z_.-]+)'/g;
  const logged = [...sources.matchAll(calls)].map(([, name]) => name);
  expect(logged.length).toBeGreaterThan(30);
  expect(logged.filter((name) => !eventTable.includes(`\`${name}\``))).toEqual([]);
});

test('the log events that troubleshooting explains exist', () => {
  const explained = [...eventTable.matchAll(/`([a-z_-]+\.[a-z_]+)`/g)].map(([, name]) => name);
  expect(explained.length).toBeGreaterThan(30);
  expect(explained.filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
});

test('the metrics that the docs name exist', () => {
  const named = pages.flatMap((page) => read(page).match(/\bframelane_[a-z_]+/g) ?? []);
  const families = new Set(named.map((name) => name.replace(/_(bucket|sum|count|oldest_age_seconds)$/, '')));
  expect([...families].filter((name) => !sources.includes(`'${name}'`))).toEqual([]);
});

/** Names that a page links to with `#`, as GitHub makes them of headings. */
function anchorsOf(page) {
  return [...withoutCode(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-'),
  );
}

function withoutCode(markdown) {
  return markdown.replace(/```[\s\S]*?```/g, '');
}
