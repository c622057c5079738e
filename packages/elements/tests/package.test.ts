import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { installPackage } from '@framelane/test-kit/installed-package';
import { runProgram } from '@framelane/test-kit/run-program';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';

const run = promisify(execFile);
const PACKAGE = join(import.meta.dirname, '..');

/** Bytes of an entry with all that it imports except React, minified and after gzip. README.md says it. */
const LARGEST_ENTRY = 35_000;
const LARGEST_ZIPPED = 13_000;

/** A user's program. Every line with the comment `mistake` has a type error. */
const CONSUMER = `
import '@framelane/elements';
import type { FramelanePlayerElement } from '@framelane/elements/player';
import { DEFAULT_WORDS, type Ticket, type UploadComplete } from '@framelane/elements/uploader';
import { FramelanePlayer, FramelaneUploader, type FramelanePlayerProps } from '@framelane/elements/react';
import { createElement, createRef } from 'react';

const uploader = document.createElement('framelane-uploader');
uploader.addEventListener('upload-complete', ({ detail }) => use(detail.videoId, detail.file.name));
uploader.addEventListener('upload-progress', ({ detail }) => detail.sent / detail.total);
uploader.addEventListener('click', ({ target }) => target);
uploader.words = { pause: 'Anhalten', 'error:quota_exceeded': 'Voll.' };
uploader.requestTicket = async (file) => ({ name: file.name });
use(DEFAULT_WORDS.pause, ...uploader.videoIds);

const player = document.createElement('framelane-player');
player.src = 'https://video.example.com/v1/embed/ws_1/vid_1';
player.addEventListener('ready', ({ detail }) => use(detail.src, ...detail.methods));
player.addEventListener('timeupdate', ({ detail }) => detail.seconds.toFixed());
player.getDuration().then((seconds) => seconds.toFixed());

const ref = createRef<FramelanePlayerElement>();
const props: FramelanePlayerProps = { src: '', onEnded: () => ref.current?.play(), className: 'x', start: 5 };
createElement(FramelanePlayer, { ...props, ref });
createElement(FramelaneUploader, { endpoint: '/t', multiple: true, onUploadComplete: ({ detail }) => complete(detail) });

uploader.words = { puase: 'x' }; // mistake
uploader.addEventListener('upload-complete', ({ detail }) => detail.id); // mistake
player.setCurrentTime('5'); // mistake
createElement(FramelanePlayer, { autoPlay: 1 }); // mistake
createElement(FramelaneUploader, { onUploadComplete: (event: string) => event }); // mistake

function use(...texts: string[]): void {
  console.log(texts);
}
function complete({ ticket }: UploadComplete): Ticket | undefined {
  return ticket;
}
`;

describe('the package, installed outside of the workspace', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'framelane-elements-package-'));
    await installPackage('elements', directory);
    for (const name of ['react', 'react-dom'])
      await symlink(join(PACKAGE, 'node_modules', name), join(directory, 'node_modules', name));
    await writeFile(join(directory, 'consumer.ts'), CONSUMER);
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('is imported, and its components are rendered, where there is no browser', async () => {
    const script = `
      const names = [await import('@framelane/elements'), await import('@framelane/elements/react')].map(Object.keys);
      console.log(names.join(' '));
      const { FramelanePlayer, FramelaneUploader } = await import('@framelane/elements/react');
      const { createElement } = await import('react');
      const { renderToString } = await import('react-dom/server');
      const player = { src: 'https://e/', aspectRatio: '9/16', muted: true, loop: false, className: 'a', onPlay() {} };
      console.log(renderToString(createElement(FramelanePlayer, player)));
      const uploader = { endpoint: '/t', multiple: true, disabled: false, words: { pause: 'x' }, requestTicket() {} };
      console.log(renderToString(createElement(FramelaneUploader, uploader)));`;
    const { stdout, stderr } = await runProgram(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: directory,
    });
    expect(stdout.trim().split('\n')).toEqual([
      'DEFAULT_WORDS,FramelanePlayerElement,FramelaneUploaderElement FramelanePlayer,FramelaneUploader',
      '<framelane-player src="https://e/" class="a" style="display:block;aspect-ratio:9 / 16" aspect-ratio="9/16" muted=""></framelane-player>',
      // It takes no files until it is hydrated.
      '<framelane-uploader endpoint="/t" multiple="" disabled=""></framelane-uploader>',
    ]);
    expect(stderr).toBe('');
  });

  test('is typed', async () => {
    const tsc = join(PACKAGE, '../../node_modules/.bin/tsc');
    const options = [
      '--module',
      'esnext',
      '--moduleResolution',
      'bundler',
      '--lib',
      'es2022,dom,dom.iterable',
    ];
    const typeRoots = join(PACKAGE, 'node_modules/@types');
    await symlink(join(typeRoots, 'react'), join(directory, 'node_modules/react-types'));
    await writeFile(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          noEmit: true,
          strict: true,
          exactOptionalPropertyTypes: true,
          skipDefaultLibCheck: true,
          types: [],
          paths: { react: ['./node_modules/react-types/index.d.ts'] },
        },
        files: ['consumer.ts'],
      }),
    );
    const { stdout = '' } = await run(tsc, ['--pretty', 'false', ...options], { cwd: directory }).catch(
      (failed: { stdout?: string }) => failed,
    );
    const faulty = [...stdout.matchAll(/^(\S+)\((\d+),\d+\): error (.*)$/gm)];
    const mistakes = CONSUMER.split('\n').flatMap((line, index) =>
      line.includes('// mistake') ? index + 1 : [],
    );
    expect(faulty.filter(([, file]) => file !== 'consumer.ts').map(([line]) => line)).toEqual([]);
    expect([...new Set(faulty.map(([, , line]) => Number(line)))]).toEqual(mistakes);
  });

  test.each(['', '/uploader', '/player', '/react'])('the entry %j is small', async (entry) => {
    const { outputFiles } = await build({
      stdin: { contents: `import '@framelane/elements${entry}';`, resolveDir: directory },
      bundle: true,
      minify: true,
      write: false,
      format: 'esm',
      external: ['react'],
    });
    const [{ contents } = { contents: new Uint8Array() }] = outputFiles;
    const zipped = gzipSync(contents).length;
    process.stdout.write(
      `@framelane/elements${entry}: ${contents.length} bytes minified, ${zipped} after gzip\n`,
    );
    expect(contents.length).toBeGreaterThan(1_000);
    expect(contents.length).toBeLessThan(LARGEST_ENTRY);
    expect(zipped).toBeLessThan(LARGEST_ZIPPED);
  });
});
