import { ApiError, type Video } from '@framelane/client';
import { expect, test } from '@jest/globals';
import {
  changedElsewhere,
  checkValues,
  type EditValues,
  editValues,
  fieldErrors,
  patchOf,
} from './edit-form.ts';

const VIDEO = {
  title: 'Summer',
  tags: ['a'],
  metadata: { campaign: 'x', owner: '1' },
  passthrough: null,
  playbackPolicy: 'public',
  allowedOrigins: null,
  keepSource: 'always',
} as unknown as Video;
const BEFORE = editValues(VIDEO);

test('an unchanged form changes nothing', () => {
  expect(patchOf(BEFORE, editValues(VIDEO))).toEqual({});
});

test('a patch contains only what changed', () => {
  const after: Partial<EditValues> = {
    title: 'Winter',
    metadata: [
      { name: 'campaign', value: 'y' },
      { name: 'new', value: '' },
      { name: '', value: '' },
    ],
    passthrough: '4711',
    sites: 'list',
    origins: ' https://a.example \n\nhttps://b.example',
    keep: 'days',
    days: '7',
  };
  expect(patchOf(BEFORE, { ...BEFORE, ...after })).toEqual({
    title: 'Winter',
    metadata: { owner: null, campaign: 'y', new: '' },
    passthrough: '4711',
    allowedOrigins: ['https://a.example', 'https://b.example'],
    keepSource: 7,
  });
});

test('an empty list of sites is not the list of the installation, and an emptied text is removed', () => {
  const listed = editValues({ ...VIDEO, allowedOrigins: [], passthrough: 'x', keepSource: 30 });
  expect(listed).toMatchObject({ sites: 'list', keep: 'days', days: '30' });
  expect(patchOf(listed, { ...listed, sites: 'installation', passthrough: '', tags: [] })).toEqual({
    allowedOrigins: null,
    passthrough: null,
    tags: [],
  });
});

test('an entry of metadata whose name every object has can be removed', () => {
  const before = editValues({ ...VIDEO, metadata: { constructor: 'x' } });
  expect(patchOf(before, { ...before, metadata: [] })).toEqual({ metadata: { constructor: null } });
});

test('a change of the same field elsewhere is named, unless it is the same change', () => {
  const now = { ...VIDEO, title: 'Autumn', tags: ['b'], passthrough: 'y' };
  expect(changedElsewhere(VIDEO, now, { title: 'Winter', tags: ['b'], keepSource: 7 })).toEqual(['title']);
  expect(changedElsewhere(VIDEO, VIDEO, { title: 'Winter' })).toEqual([]);
});

test('metadata needs different names', () => {
  const entry = (name: string, value = 'x') => ({ name, value });
  expect(checkValues({ ...BEFORE, metadata: [entry('a'), entry('a')] }).metadata).toContain('“a”');
  expect(checkValues({ ...BEFORE, metadata: [entry('')] }).metadata).toContain('no name');
  expect(checkValues({ ...BEFORE, metadata: [entry('a'), entry('', '')] })).toEqual({});
});

test('errors of a response are at their fields', () => {
  const refused = (...fields: string[]) => {
    const errors = fields.map((field) => ({ field, code: 'x', message: 'is wrong' }));
    const problem = {
      type: '',
      title: '',
      status: 400,
      detail: '',
      instance: '',
      code: 'x',
      requestId: 'r',
      errors,
    };
    return new ApiError('', { code: 'x', status: 400, requestId: 'r', problem });
  };
  const sent = { allowedOrigins: ['https://a.example', 'b'], metadata: { 'a/b': 'x' } };
  expect(fieldErrors(refused('body/title', 'body/allowedOrigins/1', 'body/metadata/a~1b'), sent)).toEqual({
    errors: { title: 'This is wrong.', origins: '“b” is wrong.', metadata: '“a/b” is wrong.' },
    isComplete: true,
  });
  expect(fieldErrors(refused('body/title', 'header/x'), sent).isComplete).toBe(false);
  expect(fieldErrors(new Error('x'), sent)).toEqual({ errors: {}, isComplete: false });
});
