import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parameterSetsChange } from './parameter-sets.ts';

/** Whether the sets change by the output of this shell script in place of ffmpeg. */
async function changeOf(
  script: string,
  signal = new AbortController().signal,
  mayBeInFrames = true,
): Promise<boolean> {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-parameters-'));
  try {
    const program = join(directory, 'ffmpeg');
    await writeFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    return await parameterSetsChange(
      { index: 0, filters: 'null', mayBeInFrames },
      { program, cwd: directory, signal, limits: { scanSeconds: 60 } },
    );
  } finally {
    await rm(directory, { recursive: true });
  }
}

const list = (...hashes: string[]) =>
  [
    '#format: frame checksums',
    '#sar 0: 1/1',
    ...hashes.map((hash, at) => `0, ${at}, ${at}, 1, 30, ${hash}`),
  ].map((line) => `echo '${line}'`);

test.each([
  ['equal', ['a1', 'a1', 'a1'], false],
  ['different', ['a1', 'a1', 'b2', 'a1'], true],
  ['missing', [], false],
])('%s parameter sets', async (_what, hashes, expected) => {
  expect(await changeOf(list(...hashes).join('\n'))).toBe(expected);
});

test('parameter sets that are listed before ffmpeg fails count', async () => {
  expect(await changeOf([...list('a1', 'b2'), 'exit 1'].join('\n'))).toBe(true);
  expect(await changeOf([...list('a1', 'a1'), 'exit 1'].join('\n'))).toBe(false);
});

test('a track whose frames must not have parameter sets must have an empty list', async () => {
  const { signal } = new AbortController();
  expect(await changeOf(list('a1', 'a1').join('\n'), signal, false)).toBe(true);
  expect(await changeOf(list().join('\n'), signal, false)).toBe(false);
});

test('an abort is not hidden', async () => {
  const reason = new Error('The video was deleted');
  await expect(changeOf('sleep 60', AbortSignal.abort(reason))).rejects.toBe(reason);
});
