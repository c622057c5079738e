import { expect, test } from '@jest/globals';
import { DocsIndex, type DocsPage } from './docs-index.ts';

const searchDocs = (pages: readonly DocsPage[], question: string) => new DocsIndex(pages).search(question);

const PAGES = [
  {
    name: 'uploads',
    title: 'Uploads',
    text: '# Uploads\n\nSend files.\n\n## Resumable uploads\n\nUse a tus client.\n',
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    text: '# Webhooks\n\nAn upload causes an event. Verify the signature.\n',
  },
];

test('finds the section that is about the words, in any case of letters', () => {
  expect(searchDocs(PAGES, 'Resumable TUS')).toEqual([
    { page: 'uploads', heading: 'Resumable uploads', excerpt: 'Use a tus client.' },
  ]);
  expect(searchDocs(PAGES, 'zebra')).toEqual([]);
  expect(searchDocs(PAGES, '?')).toEqual([]);
});

test('sections with the word in the heading or in the name of the page come first', () => {
  expect(searchDocs(PAGES, 'upload').map(({ heading }) => heading)).toEqual([
    'Uploads',
    'Resumable uploads',
    'Webhooks',
  ]);
});

test('a word that is repeated counts less than another word', () => {
  const pages = [
    { name: 'a', title: 'A', text: 'tus '.repeat(100) },
    { name: 'b', title: 'B', text: 'tus proxy' },
  ];
  expect(searchDocs(pages, 'tus proxy').map(({ page }) => page)).toEqual(['b', 'a']);
});

test('shows the text around the rarest word that matches, with a limited length', () => {
  const lines = Array.from({ length: 200 }, (_, line) => `line ${line} of text`).join('\n');
  const [hit] = searchDocs(
    [{ name: 'a', title: 'A', text: `${lines}\nhere is a needle\n${lines}` }],
    'needle text-nowhere',
  );
  expect(hit?.excerpt).toContain('here is a needle');
  expect(hit?.excerpt.startsWith('line ')).toBe(true);
  expect(hit?.excerpt.length).toBeLessThanOrEqual(700);
});

test('returns a limited number of sections', () => {
  const pages = Array.from({ length: 20 }, (_, page) => ({ name: `p${page}`, title: 'P', text: 'needle' }));
  expect(searchDocs(pages, 'needle')).toHaveLength(8);
});

test('the common words of a question do not decide', () => {
  const common = Array.from({ length: 20 }, (_, page) => ({
    name: `p${page}`,
    title: 'P',
    text: 'what does it mean that the video does what it does',
  }));
  const page = { name: 'errors/csrf', title: 'E', text: 'csrf_check_failed' };
  expect(searchDocs([...common, page], 'what does csrf_check_failed mean')[0]?.page).toBe('errors/csrf');
});

test('a comment in a block of code is no heading', () => {
  const text = '## Start\n\n```sh\n# needle first\nrun needle\n```\n\n## After\n\nneedle\n';
  const found = searchDocs([{ name: 'a', title: 'A', text }], 'needle').map(({ heading }) => heading);
  expect(found.toSorted()).toEqual(['After', 'Start']);
});

test('a guide comes before decisions, errors and changes; other forms of a word match', () => {
  const text = 'How videos are deleted.';
  const pages = ['adr/0025', 'changelog', 'errors/video_not_found', 'deletion'].map((name) => ({
    name,
    title: 'Deletion',
    text,
  }));
  expect(searchDocs(pages, 'delete a video')[0]?.page).toBe('deletion');
});
