import type { Schemas } from '@framelane/client';
import { expect, test } from '@jest/globals';
import {
  captionsWords,
  choiceOf,
  labelOfEdited,
  mayWithdraw,
  requestedWords,
  unfinished,
  withdrawnAs,
} from './captions-words.ts';

const CAPTIONS: Schemas['Captions'] = {
  language: 'en',
  label: 'English (auto-generated)',
  default: false,
  origin: 'machine',
  cues: 1,
  bytes: 60,
  updatedAt: '2026-11-21T09:05:02.317Z',
};
const REQUESTED: Schemas['AutoCaptions'] = {
  requestedLanguage: null,
  language: null,
  status: 'preparing',
  error: null,
  createdAt: '2026-11-21T09:05:02.317Z',
  readyAt: null,
};

test('captions have words for their size and origin', () => {
  expect(captionsWords(CAPTIONS)).toBe('en · 1 cue · made by speech recognition');
  expect(captionsWords({ ...CAPTIONS, cues: 2, origin: 'file' })).toBe(
    'en · 2 cues · from the uploaded file',
  );
});

test('edited captions lose the label of a machine, and keep any other', () => {
  expect(labelOfEdited(CAPTIONS)).toBeUndefined();
  expect(labelOfEdited({ ...CAPTIONS, label: 'Mine' })).toBe('Mine');
  expect(labelOfEdited({ ...CAPTIONS, origin: 'person' })).toBe('English (auto-generated)');
});

test('requests are shown until their captions are ready', () => {
  const german = { ...REQUESTED, requestedLanguage: 'de' };
  expect([REQUESTED, german].map(requestedWords)).toEqual([
    'Captions by speech recognition',
    'Captions by speech recognition: de',
  ]);
  expect(unfinished([REQUESTED, { ...german, status: 'ready' }])).toEqual([REQUESTED]);
});

test('a request is withdrawn by its language, unless that would delete captions', () => {
  const english = { ...REQUESTED, requestedLanguage: 'en' };
  expect([REQUESTED, english].map(withdrawnAs)).toEqual(['und', 'en']);
  expect([REQUESTED, english].map((each) => mayWithdraw(each, [CAPTIONS]))).toEqual([true, false]);
  expect(mayWithdraw(REQUESTED, [{ ...CAPTIONS, language: 'und' }])).toBe(false);
});

test('languages are separated by commas; without any, the language is detected', () => {
  expect(choiceOf(' en, pt-BR ')).toEqual(['en', 'pt-BR']);
  expect(choiceOf('English,Brazilian Portuguese, de fr')).toEqual(['en', 'pt-BR', 'de', 'fr']);
  expect(choiceOf(' ')).toBe(true);
});
