import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { ffmpeg } from '@framelane/test-kit/ffmpeg';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WorkerBench } from '../support/worker-bench.ts';

let bench: WorkerBench;
let video: string;
beforeAll(async () => {
  bench = await WorkerBench.start();
  video = await makeClip(inBench('video.mp4'), { video: 'testsrc2=s=320x240:r=25:d=4' });
});
afterAll(() => bench.stop());

const inBench = (name: string) => join(bench.directory, name);

type Chapter = { start: number; end: number; title?: string };

/** A file of FFmetadata. `\`, `=`, `;` and `#` are escaped there. */
const metadata = (chapters: readonly Chapter[]) =>
  [
    ';FFMETADATA1',
    ...chapters.flatMap(({ start, end, title }) => [
      ...['[CHAPTER]', 'TIMEBASE=1/1000', `START=${start}`, `END=${end}`],
      ...(title === undefined ? [] : [`title=${title.replaceAll(/[\\=;#]/g, '\\$&')}`]),
    ]),
  ].join('\n');

/** The clip with these chapters; options are those of the output. */
async function withChapters(
  name: string,
  chapters: readonly Chapter[],
  options: string[] = [],
): Promise<string> {
  await writeFile(inBench('chapters.txt'), metadata(chapters));
  const inputs = ['-i', video, '-i', inBench('chapters.txt')];
  await ffmpeg('-y', ...inputs, '-map_chapters', '1', '-map', '0', '-c', 'copy', ...options, inBench(name));
  return inBench(name);
}

const manifestOf = async (path: string) => (await bench.transcode(path)).manifest;

const TWO = [
  { start: 0, end: 1500, title: 'Intro & <b>more</b>' },
  { start: 1500, end: 4000, title: 'Zweites Kapitel: Ä = 1' },
];
const TAKEN = TWO.map(({ start, title }) => ({ start, title }));

describe('chapters of a file', () => {
  test.each([
    ['MP4, as a text track and as Nero chapters', 'a.mp4'],
    ['MOV, as a text track', 'a.mov'],
    ['Matroska', 'a.mkv'],
  ])('are taken from %s', async (_, name) => {
    const { chapters, captions, inputIssues } = await manifestOf(await withChapters(name, TWO));
    expect({ chapters, captions, inputIssues }).toEqual({ chapters: TAKEN, captions: [], inputIssues: [] });
  });

  test('are taken beside a text track, which becomes captions', async () => {
    await writeFile(inBench('a.srt'), '1\n00:00:01,000 --> 00:00:02,000\nHello\n');
    await writeFile(inBench('chapters.txt'), metadata(TWO));
    const inputs = [video, inBench('chapters.txt'), inBench('a.srt')].flatMap((each) => ['-i', each]);
    const maps = ['-map', '0', '-map', '2', '-map_chapters', '1'];
    await ffmpeg('-y', ...inputs, ...maps, '-c', 'copy', '-c:s', 'mov_text', inBench('text.mp4'));
    const { chapters, captions, inputIssues } = await manifestOf(inBench('text.mp4'));
    expect(chapters).toEqual(TAKEN);
    expect(captions).toHaveLength(1);
    expect(inputIssues).toEqual([]);
  });

  test('move with a video that begins later than the file', async () => {
    const late = ['-output_ts_offset', '1'];
    const path = await withChapters('late.mkv', TWO, late);
    const { chapters } = await manifestOf(path);
    expect(chapters).toEqual([
      { start: 0, title: TAKEN[0]?.title },
      { start: 500, title: TAKEN[1]?.title },
    ]);
  });

  test('are left out if they begin after the end of the video', async () => {
    const chapters = [...TWO, { start: 4000, end: 9000, title: 'Beyond' }];
    expect((await manifestOf(await withChapters('beyond.mkv', chapters))).chapters).toEqual(TAKEN);
  });

  test.each([
    ['5,000', 5000, 'x'],
    ['501', 501, 'x'],
    ['500 with 10,000 characters each', 500, 'x'.repeat(10_000)],
  ])('are left out with an input issue if there are %s', async (_, count, title) => {
    const many = Array.from({ length: count }, (_, at) => ({ start: at, end: at + 1, title }));
    const { chapters, inputIssues } = await manifestOf(await withChapters('many.mkv', many));
    expect(chapters).toEqual([]);
    expect(inputIssues).toEqual([
      {
        code: 'chapters_left_out',
        message:
          'The chapters of the file were left out: it has more than 500, or too much text in their titles.',
      },
    ]);
  });

  test('are taken if there are 500 with long titles', async () => {
    const title = 'Ä'.repeat(300);
    const many = Array.from({ length: 500 }, (_, at) => ({ start: at * 2, end: at * 2 + 2, title }));
    const { chapters, inputIssues } = await manifestOf(await withChapters('most.mkv', many));
    expect(chapters).toHaveLength(500);
    expect(chapters[499]).toEqual({ start: 998, title: 'Ä'.repeat(255) });
    expect(inputIssues).toEqual([]);
  });
});
