import { mkdir, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SOURCE_PATH } from '../sandbox/job-folder.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../transcode-settings.ts';
import { describeFile, readEachPacket } from './describe-file.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'framelane-describe-'));
  await mkdir(dirname(join(cwd, SOURCE_PATH)));
});
afterAll(() => rm(cwd, { recursive: true }));

type Found = { packets: object[]; trackCount?: number; bytes?: number; container?: string; fails?: boolean };

const packet = (stream_index: number, second: number, pos = 0) => ({
  stream_index,
  pts_time: `${second}`,
  size: '100',
  pos: `${pos}`,
  flags: 'K_',
});
const seconds = (count: number) => Array.from({ length: count }, (_, at) => packet(0, at / 25));

/** Describes a file of which a script, in place of ffprobe, finds these packets. Resolves with the description, the packets and the number of runs. */
async function describeAs({
  packets,
  trackCount = 2,
  bytes = 1,
  container = 'matroska,webm',
  fails = false,
}: Found) {
  const disposition = { default: 0, attached_pic: 0 };
  const streams = [0, 1].map((index) => ({ index, codec_type: 'audio', disposition }));
  const format = { format_name: container, start_time: '0' };
  await writeFile(join(cwd, 'alone'), JSON.stringify({ streams, format }));
  const complete = { packets, streams, format: { ...format, nb_streams: trackCount } };
  await writeFile(join(cwd, 'complete'), JSON.stringify(complete));
  await writeFile(join(cwd, 'list'), '0,0,0,0.04,7,0,K_\n2\n');
  await writeFile(join(cwd, 'runs'), '');
  const script = `#!/bin/sh
case "$*" in
  *packet=*json*) echo complete >> runs; cat complete; exit ${fails ? 1 : 0} ;;
  *packet=*) echo list >> runs; cat list ;;
  *) echo alone >> runs; cat alone ;;
esac
`;
  const program = join(cwd, 'ffprobe');
  await writeFile(program, script, { mode: 0o755 });
  await writeFile(join(cwd, SOURCE_PATH), '');
  await truncate(join(cwd, SOURCE_PATH), bytes);
  const { signal } = new AbortController();
  const options = { program, cwd, signal, limits: DEFAULT_TRANSCODE_LIMITS, audioOnly: 'accepted' } as const;
  const file = await describeFile(options);
  const found: number[] = [];
  const tracks = await readEachPacket(file, options, ({ bytes: size }) => found.push(size));
  const runs = (await readFile(join(cwd, 'runs'), 'utf8')).trim().split('\n');
  return { tracks: file.source.tracks.length, found: found.length, trackCount: tracks, runs };
}

test('a small file is described in one run with its packets', async () => {
  const packets = [...seconds(1998), packet(1, 0.02)];
  const read = { tracks: 2, found: 1999, trackCount: 2, runs: ['complete'] };
  expect(await describeAs({ packets })).toEqual(read);
});

test.each<[string, Found, string[]]>([
  ['with 2,000 packets', { packets: seconds(2000) }, ['complete', 'alone', 'list']],
  [
    'with a track that begins late',
    { packets: [...seconds(80), packet(1, 3)] },
    ['complete', 'alone', 'list'],
  ],
  [
    'with a track that begins behind a mebibyte',
    { packets: [...seconds(80), packet(1, 1, 2 ** 20 + 1)] },
    ['complete', 'alone', 'list'],
  ],
  ['with a track found late', { packets: seconds(80), trackCount: 3 }, ['complete', 'alone', 'list']],
  ['whose tags may change', { packets: seconds(80), container: 'ogg' }, ['complete', 'alone', 'list']],
  ['of which ffprobe cannot list the packets', { packets: [], fails: true }, ['complete', 'alone', 'list']],
  ['of more than 32 MiB', { packets: [], bytes: 2 ** 25 + 1 }, ['alone', 'list']],
])('a file %s is described alone', async (_, found, runs) => {
  expect(await describeAs(found)).toEqual({ tracks: 2, found: 1, trackCount: 2, runs });
});

test('a file that takes too long to describe is not described again', async () => {
  const program = join(cwd, 'ffprobe');
  await writeFile(program, '#!/bin/sh\necho run >> runs; exec sleep 60\n', { mode: 0o755 });
  await writeFile(join(cwd, SOURCE_PATH), '');
  await writeFile(join(cwd, 'runs'), '');
  const limits = { ...DEFAULT_TRANSCODE_LIMITS, probeSeconds: 0.5 };
  const { signal } = new AbortController();
  const described = describeFile({ program, cwd, signal, limits, audioOnly: 'refused' });
  await expect(described).rejects.toMatchObject({ end: 'timeout' });
  expect(await readFile(join(cwd, 'runs'), 'utf8')).toBe('run\n');
});
