import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '@framelane/service-kit/logger';
import { findBuild, keyOf } from '@framelane/web-build/front-ends';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { startPageBuild } from '../src/page-build.ts';

let folder: string;
let logged: string[];
const logger = {
  info: (event: string) => logged.push(event),
  error: (event: string, { output }: { output?: string }) => logged.push(`${event} ${output}`),
} as unknown as Logger;

beforeEach(async () => {
  logged = [];
  folder = await mkdtemp(join(tmpdir(), 'framelane-page-'));
  await writeFile(
    join(folder, 'index.html'),
    '<!doctype html><script type="module" src="./page.ts"></script>',
  );
});
afterEach(() => rm(folder, { recursive: true }));

test('builds the page once', async () => {
  await writeFile(join(folder, 'page.ts'), 'document.title = "built";');
  for (const expected of [['pages.built'], []]) {
    logged = [];
    const build = startPageBuild(logger, 'player', folder);
    await build.ended;
    expect([build.failed(), logged]).toEqual([false, expected]);
  }
  expect(findBuild(folder, keyOf(folder))).toBeDefined();
});

test('a failed build goes to the log with its output', async () => {
  await writeFile(join(folder, 'page.ts'), 'import "./missing.ts";');
  const build = startPageBuild(logger, 'player', folder);
  await build.ended;
  expect([build.failed(), logged]).toEqual([true, [expect.stringMatching(/^pages.build_failed .*missing/s)]]);
});

test('a build that is stopped ends without an error in the log', async () => {
  await writeFile(join(folder, 'page.ts'), 'document.title = "never";');
  const build = startPageBuild(logger, 'player', folder);
  await build.stop();
  expect(logged).toEqual([]);
});
