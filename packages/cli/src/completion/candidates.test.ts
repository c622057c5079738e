import { expect, test } from '@jest/globals';
import { Command, Option } from 'commander';
import { candidates } from './candidates.ts';

const program = new Command('framelane').option('--version');
const videos = program.command('videos');
videos
  .command('list')
  .addOption(new Option('--order <order>').choices(['asc', 'desc']))
  .option('--all');
videos.command('show').argument('<id>');
program.command('upload').option('--title <text>');
program.command('complete', { hidden: true });

test.each([
  [[''], ['videos', 'upload', 'help']],
  [['v'], ['videos']],
  [['c'], []],
  [
    ['videos', ''],
    ['list', 'show', 'help'],
  ],
  [['videos', 'li'], ['list']],
  [
    ['videos', 'list', '--'],
    ['--order', '--all', '--help'],
  ],
  [['videos', 'list', '--o'], ['--order']],
  [
    ['videos', 'list', '--order', ''],
    ['asc', 'desc'],
  ],
  [['videos', 'list', '--order', 'd'], ['desc']],
  [
    ['videos', 'list', '--all', '--'],
    ['--order', '--all', '--help'],
  ],
  [['upload', '--title', ''], []],
  [['upload', 'a'], []],
  [[], ['videos', 'upload', 'help']],
])('%j can become %j', (words, expected) => {
  expect(candidates(program, words)).toEqual(expected);
});
