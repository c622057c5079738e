import { expect, test } from '@jest/globals';
import { captionsTags, renderCaptionsPlaylist } from './captions-playlist.ts';

const captions = { language: 'en', label: 'English', isDefault: false, revision: 3 };

/** The attributes of the tags with these names. */
function attributesOf(tags: string[], ...names: string[]) {
  return tags.map((tag) => names.map((name) => new RegExp(`[:,]${name}="?([^",]*)`).exec(tag)?.[1]));
}

test('captions have all attributes, with the token in the URL', () => {
  expect(captionsTags([{ ...captions, isDefault: true }], 'a.b.c')).toEqual([
    '#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="English",LANGUAGE="en",DEFAULT=YES,AUTOSELECT=YES,FORCED=NO,URI="captions/en/3/index.m3u8?token=a.b.c"',
  ]);
});

test('names differ, and cannot end the attribute', () => {
  const labels = ['A', 'A', 'A (q1)', 'say "B"\nC', "say 'B' C"];
  const tags = captionsTags(
    labels.map((label, at) => ({ ...captions, label, language: `q${at}` })),
    undefined,
  );
  expect(attributesOf(tags, 'NAME').flat()).toEqual([
    'A',
    'A (q1)',
    'A (q1) (q2)',
    "say 'B' C",
    "say 'B' C (q4)",
  ]);
});

test('of several captions in one language, only the default one has AUTOSELECT=YES; without a default, the first', () => {
  const languages = ['de', 'en', 'en-x-2', 'fr', 'fr-x-2'];
  const tags = captionsTags(
    languages.map((language) => ({ ...captions, language, isDefault: language === 'fr-x-2' })),
    undefined,
  );
  expect(attributesOf(tags, 'LANGUAGE', 'AUTOSELECT', 'DEFAULT')).toEqual([
    ['de', 'YES', 'NO'],
    ['en', 'YES', 'NO'],
    ['en', 'NO', 'NO'],
    ['fr', 'NO', 'NO'],
    ['fr', 'YES', 'YES'],
  ]);
});

test('each segment has the token, because it is not encrypted', () => {
  const playlist = renderCaptionsPlaylist({ durations: [6, 4.5], targetDuration: 6 }, 'a.b.c');
  expect(playlist.match(/^\d+\.vtt.*$/gm)).toEqual(['0.vtt?token=a.b.c', '1.vtt?token=a.b.c']);
  expect(playlist).not.toContain('KEY');
});
