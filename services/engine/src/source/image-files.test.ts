import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkIsNoImage } from './image-files.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-images-'));
});
afterAll(() => rm(directory, { recursive: true }));

function box(type: string, bytes = 4): Buffer {
  const content = Buffer.alloc(8 + bytes);
  content.writeUInt32BE(content.length);
  content.write(type, 4, 'latin1');
  return content;
}

async function check(...types: string[]): Promise<void> {
  const path = join(directory, 'file');
  await writeFile(path, Buffer.concat(types.map((type) => box(type))));
  await checkIsNoImage(path);
}

test.each([[['ftyp', 'meta', 'mdat']], [['ftyp', 'mdat', 'free', 'meta']]])(
  'a file of the boxes %j is an image',
  async (types) => {
    await expect(check(...types)).rejects.toMatchObject({ code: 'not_a_video', retryable: false });
  },
);

test.each([
  [['ftyp', 'moov', 'mdat']],
  [['ftyp', 'meta', 'mdat', 'moov']],
  [['ftyp', 'mdat']],
  [['meta', 'mdat']],
  [['ftyp', 'meta', ...Array.from({ length: 20 }, () => 'free'), 'moov']],
  [[]],
])('a file of the boxes %j is no image', async (types) => {
  await check(...types);
});
