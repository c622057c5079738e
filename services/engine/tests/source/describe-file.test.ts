import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeClip } from '@framelane/test-kit/clips';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SOURCE_PATH } from '../../src/sandbox/job-folder.ts';
import { type DescribedFile, describeFile, readEachPacket } from '../../src/source/describe-file.ts';
import type { Packet } from '../../src/source/packets.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../../src/transcode-settings.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'describe-'));
  await mkdir(dirname(join(cwd, SOURCE_PATH)));
});
afterAll(() => rm(cwd, { recursive: true }));

/** The options of a probe of the file in the job's directory. */
const probing = () =>
  ({
    program: 'ffprobe',
    cwd,
    signal: new AbortController().signal,
    limits: DEFAULT_TRANSCODE_LIMITS,
    audioOnly: 'accepted',
  }) as const;

const KEY = '00112233445566778899aabbccddeeff';
const ENCRYPTED = ['cenc-aes-ctr', KEY, KEY].flatMap((value, at) => [
  ['-encryption_scheme', '-encryption_key', '-encryption_kid'][at] ?? '',
  value,
]);

test.each([
  ['mp4', ['-bf', '2']],
  ['mov', ENCRYPTED],
  ['mkv', []],
  ['ts', ['-output_ts_offset', '700']],
  ['avi', ['-bf', '0']],
  ['flv', []],
])(
  'packets that ffprobe lists with the description of %s are those that it lists alone',
  async (kind, options) => {
    const clip = await makeClip(join(cwd, `clip.${kind}`), {
      video: 'testsrc2=s=64x64:r=25:d=1',
      audio: 'sine=d=1',
      options,
    });
    await copyFile(clip, join(cwd, SOURCE_PATH));
    const file = await describeFile(probing());
    const packetsOf = async (from: DescribedFile) => {
      const packets: Packet[] = [];
      // In CSV, a packet has only the first of its side data.
      const add = (packet: Packet) => packets.push({ ...packet, sideData: packet.sideData.slice(0, 1) });
      const trackCount = await readEachPacket(from, probing(), add);
      return { packets, trackCount };
    };
    expect(file.packets).not.toBeNull();
    expect(await packetsOf(file)).toEqual(await packetsOf({ ...file, packets: null }));
  },
);

test('the tags of chained Ogg are those of its beginning', async () => {
  const links = await Promise.all(
    ['one', 'two'].map((title) =>
      makeClip(join(cwd, `${title}.ogg`), {
        audio: 'sine=d=1',
        options: ['-c:a', 'libvorbis', '-metadata', `title=${title}`],
      }),
    ),
  );
  const chained = await Promise.all(links.map((path) => readFile(path)));
  await writeFile(join(cwd, SOURCE_PATH), Buffer.concat(chained));
  const { source } = await describeFile(probing());
  expect(source.audioTracks).toMatchObject([{ codec: 'vorbis', title: 'one' }]);
});
