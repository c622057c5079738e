import { expect, test } from '@jest/globals';
import { findMedia } from './sidecars.ts';

test('a media file takes the files beside it that have its name', () => {
  expect(
    findMedia([
      'a.mov',
      'a.json',
      'a.vtt',
      'a.en.vtt',
      'a.pt-BR.srt',
      'a.chapters.vtt',
      'a.jpg',
      'b.vtt',
      'notes.txt',
      'talk.MP3',
    ]),
  ).toEqual([
    {
      media: 'a.mov',
      audioOnly: false,
      json: 'a.json',
      captions: [
        { name: 'a.en.vtt', language: 'en' },
        { name: 'a.pt-BR.srt', language: 'pt-BR' },
        { name: 'a.vtt', language: 'und' },
      ],
      chapters: 'a.chapters.vtt',
      poster: 'a.jpg',
    },
    { media: 'talk.MP3', audioOnly: true, captions: [] },
  ]);
});

test('captions belong to the name with the dot if there is such a file', () => {
  const [first, second] = findMedia(['take.en.mp4', 'take.mp4', 'take.en.vtt']);
  expect(first).toMatchObject({ media: 'take.en.mp4', captions: [{ language: 'und' }] });
  expect(second).toMatchObject({ media: 'take.mp4', captions: [{ language: 'en' }] });
});

test('other files are ignored', () => {
  expect(findMedia(['a.mp4.txt', 'a.mp3.part', 'b.mp4', 'b.vtt.bak', 'c.mpg', 'c.backup.vtt'])).toEqual([
    { media: 'b.mp4', audioOnly: false, captions: [] },
    { media: 'c.mpg', audioOnly: false, captions: [] },
  ]);
});

test('hidden files are ignored', () => {
  expect(findMedia(['.a.mp4', '._b.mov', 'c.mp4', '.c.json'])).toEqual([
    { media: 'c.mp4', audioOnly: false, captions: [] },
  ]);
});
