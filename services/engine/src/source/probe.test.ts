import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SOURCE_PATH } from '../sandbox/job-folder.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../transcode-settings.ts';
import { probe } from './probe.ts';

let cwd: string;
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'framelane-probe-'));
  await mkdir(dirname(join(cwd, SOURCE_PATH)));
  await writeFile(join(cwd, SOURCE_PATH), '');
});
afterAll(() => rm(cwd, { recursive: true }));

/**
 * Probes a file with these audio codecs. Resolves with the indexes of the audio tracks, and with the tracks that ffprobe decoded. A
 * script stands in for ffprobe.
 */
async function probeAudio(...codecs: string[]) {
  const disposition = { default: 0, attached_pic: 0 };
  const streams = [
    { codec_type: 'video', codec_name: 'h264', width: 64, height: 64, field_order: 'progressive' },
    ...codecs.map((codec_name) => ({ codec_type: 'audio', codec_name, channels: 2, sample_rate: '48000' })),
  ].map((stream, index) => ({ index, disposition, ...stream }));
  const packets = streams.flatMap(({ index }) =>
    Array.from({ length: 25 }, (_, at) => ({
      stream_index: index,
      pts_time: `${at / 25}`,
      duration_time: '0.04',
      size: '100',
      flags: 'K__',
    })),
  );
  const format = { format_name: 'matroska,webm', nb_streams: streams.length };
  await writeFile(join(cwd, 'description'), JSON.stringify({ packets, streams, format }));
  await writeFile(join(cwd, 'decoded'), '');
  const program = join(cwd, 'ffprobe');
  const script = `#!/bin/sh
case "$*" in
  *frame=stream_index*) while [ "$1" != -select_streams ]; do shift; done; echo "$2" | tee -a decoded ;;
  *) cat description ;;
esac
`;
  await writeFile(program, script, { mode: 0o755 });
  const { signal } = new AbortController();
  const { audio } = await probe({
    program,
    cwd,
    signal,
    limits: DEFAULT_TRANSCODE_LIMITS,
    audioOnly: 'refused',
  });
  const decoded = (await readFile(join(cwd, 'decoded'), 'utf8')).trim().split('\n');
  return { audio: audio.map(({ index }) => index), decoded };
}

test('audio is not decoded if its codec is not accepted', async () => {
  expect(await probeAudio('aac', 'tta', 'ac3')).toEqual({ audio: [1, 3], decoded: ['1', '3'] });
});

test('one run decodes all audio tracks if their codecs are accepted', async () => {
  expect(await probeAudio('aac', 'ac3')).toMatchObject({ decoded: ['a'] });
});
