import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

const RUN_SERVICE = new URL('run-service.ts', import.meta.url).href;

/** Runs a service that starts so, as a process of its own. Resolves with what it wrote, line by line, and its exit code. */
function run(start: string) {
  const program = `import { runService } from '${RUN_SERVICE}'; await runService('test', async () => { ${start} });`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  return { status, lines: `${stdout}${stderr}`.split('\n').filter((line) => line !== '') };
}

test.each([
  [
    'what a library prints',
    'console.trace(new Error("cut"));',
    { message: 'console.called', level: 'error' },
  ],
  [
    'a warning of a library',
    'console.warn("old %s", "use");',
    { message: 'console.called', detail: 'old use' },
  ],
  ['a warning of Node', 'process.emitWarning("leak");', { message: 'process.warning', level: 'warn' }],
])('%s is a line of JSON', (_, start, line) => {
  const { lines } = run(`${start} setInterval(() => process.kill(process.pid, 'SIGTERM'), 50);`);
  const logged = lines.map((text) => JSON.parse(text));
  expect(logged).toContainEqual(expect.objectContaining({ service: 'test', ...line }));
});

test.each([
  ['a rejection that nothing handles', 'Promise.reject(new Error("lost"));', 'process.crashed'],
  ['an error that nothing catches', 'setTimeout(() => { throw new Error("lost"); });', 'process.crashed'],
  ['a start that fails', 'throw new Error("lost");', 'service.not_started'],
])('%s is a line of JSON and ends the process with 1', (_, start, message) => {
  const { status, lines } = run(start);
  expect(lines.map((text) => JSON.parse(text))).toEqual([
    expect.objectContaining({ message, error: expect.objectContaining({ message: 'lost' }) }),
  ]);
  expect(status).toBe(1);
});
