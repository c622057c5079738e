import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { noticeOf } from './notices.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'framelane-package-'));
  await write('package.json', '{ "name": "example" }');
});
afterEach(() => rm(folder, { recursive: true }));

const write = (name: string, text: string) => writeFile(join(folder, name), text);

test('a notice is the text of all licence files', async () => {
  await write('LICENSE-MIT', 'Permission is hereby granted\n');
  await write('LICENSE', 'See LICENSE-MIT.\n');
  await write('README.md', '# License\n\nPermission is hereby granted, says the README');
  await mkdir(join(folder, 'licenses'));
  expect(noticeOf(folder)).toBe('See LICENSE-MIT.\n\nPermission is hereby granted');
});

test('without a licence file, it is the section of the README with the text', async () => {
  await write(
    'README.md',
    '# Example\n\n## License\n\nCopyright\n\nPermission is hereby granted\n\n## Thanks\n',
  );
  expect(noticeOf(folder)).toBe('## License\n\nCopyright\n\nPermission is hereby granted');
});

test('a README that only names the licence, and an empty licence file, are no notice', async () => {
  await write('README.md', '# Example\n\n## License\n\nMIT\n');
  await write('LICENSE', '\n');
  expect(noticeOf(folder)).toBe('');
});

test('a package without a text has the kept one, and hls.js has it in addition', async () => {
  await write('package.json', '{ "name": "media-tracks" }');
  expect(noticeOf(folder)).toMatch(/^Copyright \(c\) 2024 Mux, Inc\.\n/);
  await write('package.json', '{ "name": "hls.js" }');
  await write('LICENSE', 'Copyright Dailymotion');
  expect(noticeOf(folder)).toMatch(/^Copyright Dailymotion\n\nhls\.js contains code of .*Arnout Kazemier/s);
});
