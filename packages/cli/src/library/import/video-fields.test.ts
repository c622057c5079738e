import { expect, test } from '@jest/globals';
import type { LibraryItem } from '../library-item.ts';
import { originsOf, storedId, videoFields } from './video-fields.ts';

function fieldsOf(item: Partial<LibraryItem>) {
  return videoFields({
    id: 'mux:1',
    name: 'x',
    filename: 'x.mp4',
    media: async () => ({ path: 'x.mp4' }),
    details: async () => ({ captions: [], warnings: [] }),
    ...item,
  });
}

test('what fits is kept as it is, and the original is marked', () => {
  const item = {
    title: 'A title',
    tags: ['a', 'b'],
    metadata: { description: 'Text', none: undefined, empty: '' },
    passthrough: 'order-17',
    createdAt: '2021-01-05T17:46:08.000Z',
    fields: { playbackPolicy: 'signed' as const },
  };
  expect(fieldsOf(item)).toEqual({
    fields: {
      title: 'A title',
      filename: 'x.mp4',
      tags: ['a', 'b'],
      passthrough: 'order-17',
      playbackPolicy: 'signed',
      metadata: {
        description: 'Text',
        importing: 'mux:1',
        originalCreatedAt: '2021-01-05T17:46:08.000Z',
      },
    },
    warnings: [],
  });
});

test('what is missing is left out', () => {
  expect(fieldsOf({})).toEqual({
    fields: { filename: 'x.mp4', metadata: { importing: 'mux:1' } },
    warnings: [],
  });
});

test('the marks of an earlier import are not those of this one', () => {
  const metadata = { importing: 'x:1', importedFrom: 'x:1', originalCreatedAt: '2001-01-01T00:00:00Z' };
  expect(fieldsOf({ metadata, createdAt: '2020-01-01T00:00:00Z' }).fields.metadata).toEqual({
    importing: 'mux:1',
    originalCreatedAt: '2001-01-01T00:00:00Z',
  });
  expect(originsOf({ id: 'mux:1', metadata: {} })).toBe('mux:1');
});

test('a name that consists of refused characters is left out', () => {
  expect(fieldsOf({ metadata: { '\u0007': 'x', ok: 'y' } }).fields.metadata).toEqual({
    importing: 'mux:1',
    ok: 'y',
  });
});

test('what is too long is cut, with a warning', () => {
  const { fields, warnings } = fieldsOf({
    title: `${'a'.repeat(511)}🎬`,
    tags: ['t'.repeat(65), 'u'.repeat(65), ...Array.from({ length: 19 }, (_, index) => `t${index}`)],
    passthrough: 'p'.repeat(256),
    metadata: { description: 'd'.repeat(501), ['k'.repeat(41)]: 'v' },
  });
  expect(fields.title).toBe('a'.repeat(511));
  expect(fields.tags).toHaveLength(20);
  expect(fields.tags?.[0]).toHaveLength(64);
  expect(fields.passthrough).toHaveLength(255);
  expect(fields.metadata).toMatchObject({ description: 'd'.repeat(500), ['k'.repeat(40)]: 'v' });
  expect(warnings).toEqual([
    'The title is cut after 512 characters.',
    'passthrough is cut after 255 characters.',
    'Only 20 of 21 tags are kept.',
    'Tags are cut after 64 characters.',
    'The entry "description" of its metadata is cut after 500 characters.',
    `The entry "${'k'.repeat(41)}" of its metadata is now called "${'k'.repeat(40)}".`,
  ]);
});

test('metadata leaves room for the marks', () => {
  const metadata = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`k${index}`, 'v']));
  const { fields, warnings } = fieldsOf({ metadata, createdAt: '2021-01-05T17:46:08.000Z' });
  expect(Object.keys(fields.metadata ?? {})).toHaveLength(50);
  expect(fields.metadata).toHaveProperty('importing', 'mux:1');
  expect(warnings).toEqual(['Only 48 of 60 entries of its metadata are kept.']);
});

test('characters that the API refuses are removed', () => {
  const { fields } = fieldsOf({ title: 'a\u0000\nb\u202E\uD800', tags: [' \u0007 ', 'x\ty'] });
  expect(fields.title).toBe('a b \uFFFD');
  expect(fields.tags).toEqual(['x y']);
});

test.each([
  ['../../etc/passwd', '.._.._etc_passwd.mp4'],
  ['a.mov', 'a.mov'],
  ['no extension', 'no extension.mp4'],
  ['.mp4', 'video.mp4'],
  [`${'a'.repeat(300)}.mov`, `${'a'.repeat(251)}.mov`],
])('the file name %s', (filename, expected) => {
  expect(fieldsOf({ filename }).fields.filename).toBe(expected);
});

test('the ids of all originals are kept, the newest first', () => {
  expect(originsOf({ id: 'framelane:vid_2', metadata: { importedFrom: 'framelane:vid_1 mux:1' } })).toBe(
    'framelane:vid_2 framelane:vid_1 mux:1',
  );
  const many = Array.from({ length: 100 }, (_, index) => `mux:${index}`).join(' ');
  expect(originsOf({ id: 'mux:x', metadata: { importedFrom: many } }).length).toBeLessThanOrEqual(500);
});

test('an id that cannot be stored is replaced by its hash', () => {
  expect(storedId('file:abc/A film.mp4')).toMatch(/^file:sha256-[0-9a-f]{64}$/);
  expect(storedId(`s3:${'a'.repeat(300)}`)).toMatch(/^s3:sha256-/);
  expect(storedId('mux:abc')).toBe('mux:abc');
});
