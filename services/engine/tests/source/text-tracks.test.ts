import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { longestBlock } from '@framelane/test-kit/event-loop';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { withEditLists } from '../support/edit-lists.ts';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
let video: string;
beforeAll(async () => {
  bench = await WorkerBench.start();
  video = await makeClip(inBench('video.mp4'), { video: 'testsrc2=s=320x240:r=25:d=4' });
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

const cue = (number: number, [start, end]: [string, string], text: string) =>
  `${number}\n00:00:0${start} --> 00:00:0${end}\n${text}\n\n`;
const SRT =
  cue(1, ['0,500', '1,500'], '{\\an8}<i>One</i> & two\n\nafter a blank line') +
  cue(2, ['1,000', '2,000'], 'Overlap') +
  cue(3, ['9,000', '9,500'], 'After the end');
const ASS = `[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname, Fontsize
Style: Default,Arial,16

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\b1}Fett{\\b0}\\NZeile
`;

/** The clip with these files as its text tracks. */
async function withTracks(
  name: string,
  files: Record<string, string | Buffer>,
  options: string[],
): Promise<string> {
  const paths = Object.keys(files).map(inBench);
  for (const [file, content] of Object.entries(files)) await writeFile(inBench(file), content);
  const maps = paths.flatMap((_, at) => ['-map', `${at + 1}`]);
  const inputs = paths.flatMap((path) => ['-i', path]);
  await ffmpeg('-y', '-i', video, ...inputs, '-map', '0', ...maps, '-c:v', 'copy', ...options, inBench(name));
  return inBench(name);
}

const transcode = async (path: string) => (await bench.transcode(path)).manifest;

test('SubRip, ASS and WebVTT in Matroska become captions with language and title', async () => {
  const path = await withTracks(
    'text.mkv',
    { 'a.srt': SRT, 'b.ass': ASS, 'c.vtt': `WEBVTT\n\n00:01.000 --> 00:02.000\nTrois` },
    [
      ...['-c:s:0', 'srt', '-c:s:1', 'ass', '-c:s:2', 'webvtt'],
      ...['-metadata:s:s:0', 'language=eng', '-metadata:s:s:0', 'title=Full'],
      ...['-metadata:s:s:1', 'language=ger'],
    ],
  );
  const { captions, inputIssues, startTimestamp } = await transcode(path);
  expect(inputIssues).toEqual([]);
  expect(captions).toEqual([
    {
      language: 'en',
      label: 'Full',
      webvtt:
        'WEBVTT\n\n00:00:00.500 --> 00:00:01.500 line:0\n<i>One</i> &amp; two\nafter a blank line\n\n00:00:01.000 --> 00:00:02.000\nOverlap\n',
    },
    { language: 'de', label: null, webvtt: 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<b>Fett</b>\nZeile\n' },
    { language: null, label: null, webvtt: 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nTrois\n' },
  ]);
  expect(startTimestamp).toBe(1_026_000);
});

test('mov_text in MP4 becomes captions, at the times of the frames', async () => {
  const path = await withTracks('text.mp4', { 'd.srt': SRT }, [
    ...['-c:s', 'mov_text', '-metadata:s:s:0', 'language=fra'],
    ...['-output_ts_offset', '3'],
  ]);
  const { captions } = await transcode(path);
  expect(captions).toMatchObject([
    { language: 'fr', webvtt: expect.stringMatching(/^WEBVTT\n\n00:00:00.500 --> 00:00:01.000/) },
  ]);
});

test('a track of images is left out, and so is a track that is not UTF-8; the other track is not', async () => {
  const files = { 'e.srt': cue(1, ['1,000', '2,000'], 'Latin'), 'f.srt': SRT };
  const path = await withTracks('flawed.mkv', files, ['-c:s', 'srt']);
  const file = await readFile(path);
  file.write('\xe9\xe9\xe9\xe9\xe9', file.indexOf('Latin'), 'latin1');
  await writeFile(path, file);
  const encoded = await transcode(path);
  expect(encoded.captions).toHaveLength(1);
  expect(encoded.inputIssues).toEqual([
    {
      code: 'track_left_out',
      message: expect.stringMatching(
        /^Track 2 \(subtitles, subrip\) was left out: it(s text cannot be read| has no cue| is empty)/,
      ),
    },
  ]);

  file.write('S_HDMV/PGS\0', file.indexOf('S_TEXT/UTF8'), 'latin1');
  await writeFile(path, file);
  const { captions, inputIssues } = await transcode(path);
  expect(captions).toHaveLength(1);
  expect(inputIssues).toEqual([
    { code: 'track_left_out', message: 'Track 2 (subtitles, hdmv_pgs_subtitle) was left out.' },
  ]);
});

const time = (at: number) => new Date(at * 10).toISOString().slice(11, 23).replace('.', ',');
const srtOf = (count: number, text = 'A') =>
  Array.from({ length: count }, (_, at) => `${at}\n${time(at)} --> ${time(at + 1)}\n${text}\n`).join('\n');

test('a track is left out if it and the tracks before it have more than 4 MiB', async () => {
  const text = srtOf(1_500, 'A'.repeat(1_000));
  const files = { 'j.srt': text, 'k.srt': text, 'l.srt': text };
  const { captions, inputIssues } = await transcode(await withTracks('large.mkv', files, ['-c:s', 'srt']));
  expect(captions).toHaveLength(2);
  expect(inputIssues.map(({ message }) => message)).toEqual([
    'Track 4 (subtitles, subrip) was left out: the text tracks of the file have more than 4 MiB.',
  ]);
});

test('a track of 100,000 cues, or without any, is left out with the reason', async () => {
  const many = srtOf(100_000);
  const none = cue(1, ['1,000', '2,000'], '<b> </b>');
  const path = await withTracks('many.mkv', { 'g.srt': many, 'h.srt': none, 'i.srt': SRT }, ['-c:s', 'srt']);
  const { captions, inputIssues } = await transcode(path);
  expect(captions).toHaveLength(1);
  expect(inputIssues.map(({ message }) => message)).toEqual([
    'Track 2 (subtitles, subrip) was left out: it has more than 2 MiB of text.',
    'Track 3 (subtitles, subrip) was left out: it has no cue with text and a duration.',
  ]);
});

test('cues of MP4 are shown as its edit list says', async () => {
  const files = {
    'm.srt': srtOf(1) + cue(2, ['1,000', '1,900'], 'Cut') + cue(3, ['2,500', '3,500'], 'Moved'),
  };
  const path = await withTracks('unedited.mp4', files, ['-c:s', 'mov_text']);
  const edits = [
    { from: 1.5, lasts: 1.2 },
    { from: 3.2, lasts: 0.8 },
  ];
  await writeFile(inBench('edited.mp4'), withEditLists(await readFile(path), [edits, edits]));
  const { captions } = await transcode(inBench('edited.mp4'));
  expect(captions[0]?.webvtt.split('\n\n').slice(1)).toEqual([
    '00:00:00.000 --> 00:00:00.400\nCut',
    '00:00:01.000 --> 00:00:01.200\nMoved',
    '00:00:01.200 --> 00:00:01.500\nMoved\n',
  ]);
});

test('a hostile track does not block the event loop', async () => {
  const times = `00:00:01,000 --> 00:00:02,000${' '.repeat(95_000)}x\u2028`;
  const path = await withTracks('hostile.mkv', { 'hostile.ass': `${ASS.trim()}\\N${times}\n` }, [
    '-c:s',
    'ass',
  ]);
  const block = await longestBlock(async () => {
    expect((await transcode(path)).captions).toHaveLength(0);
  });
  expect(block).toBeLessThan(100);
});
