import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { isReachableByAll, reachableCopy } from './reachable-copy.ts';

describe("the copy of PostgreSQL's programs", () => {
  let root: string;
  /** Below a directory that only its owner can enter, like a checkout below /root. */
  let installed: string;
  /** A directory that everyone can enter. */
  let open: string;

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'framelane-programs-'));
    await chmod(root, 0o755);
    open = join(root, 'open');
    installed = join(root, 'private', 'package', 'native');
    await mkdir(open);
    await mkdir(join(installed, 'bin'), { recursive: true });
    await mkdir(join(installed, 'lib'));
    await writeFile(join(installed, '..', 'package.json'), '{"version":"18.4.0"}');
    await writeFile(join(installed, 'bin', 'postgres'), 'any program');
    await writeFile(join(installed, 'lib', 'libpq.so'), 'any library');
    // As after an installation with the umask 077.
    await chmod(join(installed, 'bin', 'postgres'), 0o700);
    await chmod(join(installed, 'lib', 'libpq.so'), 0o600);
    await chmod(join(root, 'private'), 0o700);
  });
  afterEach(() => rm(root, { recursive: true }));

  test('can be read by everyone, whatever the modes of the original, and is made once', async () => {
    const cache = join(open, 'framelane');
    expect(await isReachableByAll(join(installed, 'bin', 'postgres'))).toBe(false);
    const copies = await Promise.all([1, 2, 3].map(() => reachableCopy(installed, cache)));
    const [copy = ''] = copies;
    expect(copies).toEqual([copy, copy, copy]);
    expect(copy).toContain(join(cache, 'postgresql-18.4.0-'));
    expect(await isReachableByAll(join(copy, 'bin', 'postgres'))).toBe(true);
    expect((await stat(join(copy, 'lib', 'libpq.so'))).mode & 0o777).toBe(0o644);
    expect(await readdir(cache)).toEqual([basename(copy)]);

    await writeFile(join(copy, 'bin', 'mark'), '');
    expect(await reachableCopy(installed, cache)).toBe(copy);
    expect(await readdir(join(copy, 'bin'))).toEqual(['mark', 'postgres']);
  });

  test('is made again when an incomplete installation was repaired', async () => {
    const cache = join(open, 'framelane');
    await reachableCopy(installed, cache);
    await writeFile(join(installed, 'lib', 'UTC'), 'any time zone');
    expect(await readdir(join(await reachableCopy(installed, cache), 'lib'))).toContain('UTC');
  });

  test.each([
    [
      'cannot be written',
      async () => writeFile(join(open, 'framelane'), ''),
      /cannot be copied to .*framelane \(/,
    ],
    [
      'is private too',
      async () => chmod(open, 0o700),
      /others than root cannot enter .*framelane\. Install Framelane/,
    ],
  ])('is refused with what to do if its place %s', async (_, prepare, message) => {
    await prepare();
    await expect(reachableCopy(installed, join(open, 'framelane'))).rejects.toThrow(message);
  });
});
