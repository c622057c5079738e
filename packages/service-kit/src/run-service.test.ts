import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

const RUN_SERVICE = new URL('run-service.ts', import.meta.url).href;

/** Runs a service with this body of its start function in a process of its own. Returns its output lines and its exit code. */
function run(start: string) {
  const program = `import { runService } from '${RUN_SERVICE}'; await runService('test', async ({ toStop, signal }) => { ${start} });`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, NODE_OPTIONS: '--disable-warning=ExperimentalWarning' },
  });
  return { status, lines: `${stdout}${stderr}`.split('\n').filter((line) => line !== '') };
}

test.each([
  ['output of a library', 'console.trace(new Error("cut"));', { message: 'console.called', level: 'error' }],
  [
    'a warning of a library',
    'console.warn("old %s", "use");',
    { message: 'console.called', detail: 'old use' },
  ],
  ['a warning of Node', 'process.emitWarning("leak");', { message: 'process.warning', level: 'warn' }],
])('logs %s as a line of JSON', (_, start, line) => {
  // An interval, because it keeps the process alive until the signal arrives. A signal listener does not.
  const { lines } = run(`${start} setInterval(() => process.kill(process.pid, 'SIGTERM'), 50);`);
  const logged = lines.map((text) => JSON.parse(text));
  expect(logged).toContainEqual(expect.objectContaining({ service: 'test', ...line }));
});

test('a signal more than a second after the first one ends the process, although a stop phase hangs', () => {
  const { status, lines } = run(`
    toStop.unshift({ name: 'hangs', limitMs: 10_000, run: () => new Promise(() => {}) });
    setInterval(() => process.kill(process.pid, 'SIGTERM'), 600);`);
  expect(lines.map((text) => JSON.parse(text).message)).toEqual(['service.stopping']);
  expect(status).toBe(1);
});

test.each([
  ['an unhandled rejection', 'Promise.reject(new Error("lost"));', 'process.crashed'],
  ['an uncaught error', 'setTimeout(() => { throw new Error("lost"); });', 'process.crashed'],
  ['a failed start', 'throw new Error("lost");', 'service.not_started'],
])('logs %s as a line of JSON and exits with 1', (_, start, message) => {
  const { status, lines } = run(start);
  expect(lines.map((text) => JSON.parse(text))).toEqual([
    expect.objectContaining({ message, error: expect.objectContaining({ message: 'lost' }) }),
  ]);
  expect(status).toBe(1);
});

test('a signal ends a start that waits, and this is no failure', () => {
  const { status, lines } = run(`
    const waiting = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    setInterval(() => process.kill(process.pid, 'SIGTERM'), 50);
    await waiting;`);
  expect(lines.map((text) => JSON.parse(text).message)).toEqual(['service.stopping']);
  expect(status).toBe(0);
});
