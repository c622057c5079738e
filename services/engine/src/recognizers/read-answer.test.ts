import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { readAnswer } from './read-answer.ts';

const read = (answer: object | string, seconds = 10) =>
  readAnswer({ answer: typeof answer === 'string' ? answer : JSON.stringify(answer), seconds });
const words = (answer: object | string, seconds = 10) => {
  const result = read(answer, seconds);
  return 'flaw' in result ? result.flaw : result.words.map(({ text, start, end }) => [text, start, end]);
};

describe('the answer of a recogniser', () => {
  test('can have words beside its segments, as OpenAI writes them', () => {
    const answer = {
      language: 'english',
      segments: [
        { start: 0, end: 2, text: ' Hello there.' },
        { start: 2, end: 4, text: ' Bye.' },
      ],
      words: [
        { word: 'Hello', start: 0.1, end: 0.5 },
        { word: 'there', start: 0.6, end: 1 },
        { word: 'Bye', start: 2.1, end: 2.5 },
      ],
    };
    expect(read(answer)).toEqual({
      language: 'english',
      words: [
        { text: ' Hello', start: 0.1, end: 0.5 },
        { text: ' there.', start: 0.6, end: 1 },
        { text: ' Bye.', start: 2.1, end: 2.5 },
      ],
    });
  });

  test('can have words in its segments, as speaches and whisper.cpp write them', () => {
    const segment = { start: 0, end: 2, text: ' Hi.', words: [{ word: ' Hi.', start: 0.3, end: 0.6 }] };
    expect(words({ language: 'en', segments: [segment], words: null })).toEqual([[' Hi.', 0.3, 0.6]]);
  });

  test('can have words and no segments', () => {
    const spoken = [
      { word: 'One', start: 1, end: 2 },
      { word: 'two', start: 3, end: 4 },
    ];
    expect(words({ text: 'One, two', segments: [], words: spoken })).toEqual([
      ['One,', 1, 2],
      [' two', 3, 4],
    ]);
  });

  test('can be text alone', () => {
    expect(words({ text: 'One two' })).toEqual([
      ['One', 0, 5],
      [' two', 5, 10],
    ]);
  });

  test('can be that of whisper-cli, in milliseconds', () => {
    const tokens = [
      { text: '[_BEG_]', offsets: { from: 0, to: 0 } },
      { text: ' Hi', offsets: { from: 300, to: 500 } },
      { text: '.', offsets: { from: 500, to: 600 } },
    ];
    const transcription = [{ text: ' Hi.', offsets: { from: 0, to: 2000 }, tokens }];
    expect(read({ result: { language: 'en' }, transcription })).toEqual({
      language: 'en',
      words: [{ text: ' Hi.', start: 0.3, end: 0.6 }],
    });
  });

  test('can have numbers as strings, as vLLM wrote them', () => {
    const silent = { no_speech_prob: '0.9', avg_logprob: '-1.5' };
    const segments = [
      { text: 'One', start: '1.5', end: '2' },
      { text: 'two', start: '2', end: '3', ...silent },
    ];
    expect(words({ duration: '10.0', segments })).toEqual([['One', 1.5, 2]]);
  });

  test('can have times in nanoseconds, as LocalAI writes them', () => {
    const segments = [
      { text: ' One', start: 0, end: 1_500_000_000 },
      { text: ' two', start: 1_500_000_000, end: 4_000_000_000 },
    ];
    expect(words({ segments })).toEqual([
      [' One', 0, 1.5],
      [' two', 1.5, 4],
    ]);
  });

  test('can have the NaN of Python, which is not JSON', () => {
    const answer = '{"segments": [{"text": "A, NaN", "start": NaN, "end": 3, "avg_logprob": -Infinity}]}';
    // The beginning is not known.
    expect(words(answer)).toEqual([
      ['A,', expect.closeTo(3.33, 1), expect.closeTo(6.67, 1)],
      [' NaN', expect.closeTo(6.67, 1), 10],
    ]);
  });

  test.each([
    ['', 'The answer of the recogniser is not JSON'],
    ['{"segments": [', 'The answer of the recogniser is not JSON'],
    ['null', 'The answer of the recogniser has no segments and no text'],
    ['[]', 'The answer of the recogniser has no segments and no text'],
    ['{"segments": {}}', 'The answer of the recogniser has no segments and no text'],
    ['{"segments": [1]}', 'The answer of the recogniser has no segments and no text'],
    ['{"transcription": 1}', 'The answer of the recogniser has no segments and no text'],
  ])('is refused if it is %j', (answer, flaw) => {
    expect(words(answer)).toBe(flaw);
  });
});

test('times that cannot be true get others', () => {
  const segments = [
    { text: '0', start: 1, end: 2 },
    { text: '1', start: 76, end: 76 },
    { text: '2', start: 3, end: 4 },
    { text: '3', start: 'five', end: null },
  ];
  expect(words({ segments })).toEqual([
    ['0', 1, 2],
    ['1', 2, 3],
    ['2', 3, 4],
    ['3', 6.5, 10],
  ]);
});

describe('the text', () => {
  const texts = (...segments: object[]) => {
    const found = words({ segments: segments.map((segment) => ({ start: 0, end: 1, ...segment })) });
    return Array.isArray(found) ? found.map(([text]) => text) : found;
  };

  test('has no control characters, line breaks, directions and halves of characters', () => {
    expect(texts({ text: 'a\u0000b\nc\u202ed\ud800e\u2028f' })).toEqual(['a', ' b', ' cde', ' f']);
  });

  test('without speech is left out', () => {
    const silent = { no_speech_prob: 0.9, avg_logprob: -1.2 };
    const sure = { no_speech_prob: 0.9, avg_logprob: -0.2 };
    expect(
      texts(
        { text: ' [BLANK_AUDIO]' },
        { text: '♪ (Music) ♪' },
        { text: ' ...' },
        { text: 'x', ...silent },
        { text: 'y', ...sure },
      ),
    ).toEqual(['y']);
  });

  test('that is repeated again and again is shown twice', () => {
    expect(texts(...Array.from({ length: 50 }, () => ({ text: 'Thanks.' })), { text: 'End.' })).toEqual([
      'Thanks.',
      'Thanks.',
      'End.',
    ]);
  });

  test('of one word again and again has it six times', () => {
    expect(texts({ text: `${'you '.repeat(100)}and me` })).toEqual(
      [...Array(6).fill('you'), ' and', ' me'].map((text, at) => (at > 0 && text === 'you' ? ' you' : text)),
    );
  });

  test('of a phrase again and again has it four times', () => {
    const loop = 'a little bit of '.repeat(30);
    expect(texts({ text: `It is ${loop}everything.` }).slice(0, 20)).toHaveLength(19);
    expect(texts({ text: `${"I'm sorry. ".repeat(20)}The end.` })).toEqual([
      "I'm",
      ...Array(3).fill([' sorry.', " I'm"]).flat(),
      ' sorry.',
      ' The',
      ' end.',
    ]);
    const refrain = 'Let it be, let it be, let it be, let it be.';
    expect(texts({ text: refrain })).toHaveLength(12);
    const spoken = [...'ご視聴ありがとうございました。'];
    const parts = Array.from({ length: 9 }, () => spoken).flat();
    const timed = parts.map((word, at) => ({ word, start: at / 30, end: (at + 1) / 30 }));
    expect(texts({ text: parts.join(''), words: timed })).toHaveLength(4 * (spoken.length - 1));
  });

  test('is not more than anyone speaks', () => {
    const characters = (...segments: object[]) => {
      const found = texts(...segments);
      return Array.isArray(found) ? found.join('').length : found;
    };
    expect(characters({ text: 'x'.repeat(100_000) })).toBe(1000);
    expect(characters(...Array.from({ length: 5000 }, (_, at) => ({ text: `${at}` })))).toBeLessThanOrEqual(
      1000,
    );
  });

  test('is read in linear time', async () => {
    for (const piece of [' ', '[', 'NaN,', ': NaN ', 'a ', '\\u0000'])
      await requireLinearTime(
        2 ** 20,
        (size) => ({
          answer: `{"text": NaN, "segments": [{"text": "${piece.repeat(size / piece.length)}!"}]}`,
          seconds: 60,
        }),
        readAnswer,
      );
  });
});
