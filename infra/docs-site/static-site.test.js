import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PROBLEMS } from '../../packages/contracts/src/problem-codes.ts';
import { ROOT } from '../bootstrap/project.js';
import { withAddresses, writeStaticSite } from './static-site.js';

const BASE_URL = 'https://docs.example.com/framelane/';

/** The site as files, and the names of its pages. */
let folder;
let pages;
const read = (name) => readFileSync(join(folder, name), 'utf8');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'framelane-docs-'));
  await writeStaticSite(folder, BASE_URL);
  pages = readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.html'))
    .sort();
});
afterAll(() => rmSync(folder, { recursive: true }));

const sources = (path) => readdirSync(join(ROOT, path)).filter((name) => name.endsWith('.md'));
const namesOf = (attribute, html) =>
  [...html.matchAll(new RegExp(`\\s${attribute}="([^"]*)"`, 'g'))].map(([, value]) => value);

test('every guide, decision record and problem has a page, as HTML and as Markdown', () => {
  const names = [
    ...sources('docs').map((name) => name.replace('.md', '')),
    ...sources('docs/adr').map((name) => `adr/${name.replace('.md', '')}`),
    ...Object.keys(PROBLEMS).map((code) => `errors/${code}`),
  ];
  expect(
    names.flatMap((name) => [`${name}.html`, `${name}.md`]).filter((file) => !existsSync(join(folder, file))),
  ).toEqual([]);
});

test('every page is in its sidebar, has one title, an outline of its own headings and its Markdown', () => {
  const wrong = pages
    .filter((page) => page !== '404.html')
    .filter((page) => {
      const html = read(page);
      const current = /<a href="([^"]*)" aria-current="page">/.exec(html)?.[1];
      return (
        posix.join(dirname(page), current ?? '') !== page ||
        html.split('<h1').length !== 2 ||
        !html.includes(
          `type="text/markdown" href="${'../'.repeat(page.split('/').length - 1)}${page.replace('.html', '.md')}"`,
        )
      );
    });
  expect(wrong).toEqual([]);
});

test('every link, image, script and style leads to a file of the site, and every anchor to an element', () => {
  const anchors = new Map(pages.map((page) => [page, new Set(namesOf('id', read(page)))]));
  const broken = pages
    .filter((page) => page !== '404.html')
    .flatMap((page) => {
      const html = read(page);
      return ['href', 'src', 'data-search']
        .flatMap((attribute) => namesOf(attribute, html))
        .flatMap((target) => {
          if (/^(https?:|data:|mailto:)/.test(target)) return [];
          const [path, anchor] = target.split('#');
          const file = path === '' ? page : posix.join(dirname(page), path);
          const isBroken =
            path.startsWith('/') ||
            !existsSync(join(folder, file)) ||
            (anchor !== undefined && !anchors.get(file)?.has(decodeURIComponent(anchor)));
          return isBroken ? [`${page}: ${target}`] : [];
        });
    });
  expect(broken).toEqual([]);
});

test('every link between the Markdown pages leads to a file', () => {
  const files = readdirSync(folder, { recursive: true }).filter(
    (name) => name.endsWith('.md') && !name.startsWith('files/'),
  );
  const broken = files.flatMap((file) =>
    [
      ...read(file)
        .replace(/```[\s\S]*?```|`[^`\n]*`/g, '')
        .matchAll(/\]\(([^)\s#]+)/g),
    ]
      .map(([, target]) => target)
      .filter((target) => !/^\w+:/.test(target) && !existsSync(join(folder, dirname(file), target)))
      .map((target) => `${file}: ${target}`),
  );
  expect(broken).toEqual([]);
});

test('no page has a style or a script within, which the policy would refuse, or an image without a size', () => {
  const wrong = pages.filter((page) => {
    const html = read(page).replace(/<pre[\s\S]*?<\/pre>/g, '');
    return (
      /<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/.test(html) ||
      [...html.matchAll(/<img [^>]*>/g)].some(([image]) => !/ width="\d+" height="\d+" alt="[^"]/.test(image))
    );
  });
  expect(wrong).toEqual([]);
});

test('diagrams load nothing from elsewhere', () => {
  const diagrams = readdirSync(join(folder, 'images')).filter((name) => name.endsWith('.svg'));
  expect(diagrams.length).toBeGreaterThan(10);
  expect(
    diagrams.filter((name) => /@import|url\((?!#)|<script|href="(?!#)/.test(read(`images/${name}`))),
  ).toEqual([]);
});

test('llms.txt has a title, a summary, and a line for each page with a link that works', () => {
  const text = read('llms.txt');
  expect(text).toMatch(/^# Framelane\n\n> \S.*\n/);
  const lines = [...text.matchAll(/^- \[(.+)\]\((.+)\): (.+)$/gm)];
  const files = lines.map(([, , url]) => url.replace(BASE_URL, ''));
  expect(files.map((file) => file.replace(/\.md$/, '.html')).sort()).toEqual(
    pages.filter((page) => page !== '404.html'),
  );
  expect(files.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
  // A sentence ends, unlike a line that is cut.
  expect(
    lines.map(([, title, , summary]) => `${title}: ${summary}`).filter((line) => !/[.:)]$/.test(line)),
  ).toEqual([]);
});

test('llms-full.txt contains the guides', () => {
  const text = read('llms-full.txt');
  for (const name of ['uploads', 'nextjs', 'webhooks', 'configuration'])
    expect(text).toContain(read(`${name}.md`).split('\n', 1)[0]);
});

test('the page for missing pages does not depend on its address', () => {
  expect(read('404.html')).toContain(`href="${BASE_URL}uploads.html"`);
  expect(withAddresses('404.html', '/url-of-these-docs/uploads', '/docs')).toBe('/docs/uploads.html');
});
