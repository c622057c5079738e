import { readdir, readlink } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { FileResumableWriter } from './file-resumable.ts';

/** A file that can be opened, but not truncated. */
const DEVICE = '/dev/full';

async function openDescriptors(): Promise<number> {
  const descriptors = await readdir('/proc/self/fd');
  // The descriptor of the folder itself is closed again.
  const paths = descriptors.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => ''));
  return (await Promise.all(paths)).filter((path) => path === DEVICE).length;
}

test('closes a file that it cannot truncate', async () => {
  const checkpoint = { id: 'file', durableBytes: 0, tail: [], laterBytesUntrusted: false };
  const opening = FileResumableWriter.open(DEVICE, checkpoint, 0, async () => {});
  await expect(opening).rejects.toThrow('EINVAL');
  expect(await openDescriptors()).toBe(0);
});
