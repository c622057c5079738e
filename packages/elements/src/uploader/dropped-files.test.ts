import { expect, test } from '@jest/globals';
import { droppedFiles } from './dropped-files.ts';

const item = (name: string, isDirectory?: boolean) => ({
  kind: 'file',
  getAsFile: () => new File([], name),
  ...(isDirectory !== undefined && { webkitGetAsEntry: () => ({ isDirectory }) as FileSystemEntry }),
});

test('files and folders are told apart, and other items ignored', () => {
  const text = { kind: 'string', getAsFile: () => null };
  const dropped = droppedFiles([item('a', false), text, item('b', true), item('c')]);
  expect(dropped.map(({ file, isFolder }) => [file.name, isFolder])).toEqual([
    ['a', false],
    ['b', true],
    ['c', false],
  ]);
});
