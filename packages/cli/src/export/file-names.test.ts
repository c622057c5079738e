import { expect, test } from '@jest/globals';
import { folderName, idInFolderName, renditionName, sourceName } from './file-names.ts';

const id = `vid_${'0'.repeat(26)}`;

test.each([
  ['Holiday 2026', `Holiday 2026-${id}`],
  ['../../etc/passwd', `_.._etc_passwd-${id}`],
  ['a/b\\c:d*e?f"g<h>i|j', `a_b_c_d_e_f_g_h_i_j-${id}`],
  ['.hidden', `hidden-${id}`],
  ['...', `video-${id}`],
  ['line\nbreak\u202Egnp', `line_break_gnp-${id}`],
  ['half \uD800', `half \uFFFD-${id}`],
])('the folder of %j', (title, expected) => {
  expect(folderName({ title, id })).toBe(expected);
});

test('a long title keeps whole characters within the limit of file systems', () => {
  const name = folderName({ title: '🎬'.repeat(200), id });
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
  expect(name.isWellFormed()).toBe(true);
  expect(name).toMatch(/^(?:🎬)+-vid_/u);
});

test('a folder is found by its id, whatever the title is now', () => {
  expect(idInFolderName(folderName({ title: 'a-b', id }))).toBe(id);
  expect(idInFolderName('other')).toBeUndefined();
});

test('names of files', () => {
  expect(['A.MOV', 'noname', 'x.tar.gz', 'x.m/../y'].map(sourceName)).toEqual([
    'source.mov',
    'source',
    'source.gz',
    'source',
  ]);
  expect(['highest', 'audio'].map(renditionName)).toEqual(['highest.mp4', 'audio.m4a']);
});
