import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { run } from './run.js';

test.each([
  ['of the program', 'exit 7', 7],
  ['of the signal that killed it', 'kill -TERM $$', 143],
])('resolves with the exit code %s', async (_whose, script, code) => {
  expect(await run('sh', ['-c', script])).toBe(code);
});

test('resolves with 127 for a missing program, like a shell', async () => {
  expect(await run('no-such-program', [])).toBe(127);
});

test('sends the output of a program to the given stream', async () => {
  const script = `
    import { runStep } from '${join(import.meta.dirname, 'run.js')}';
    await runStep('echo', ['result']);
    await runStep('echo', ['progress'], { stdout: process.stderr });`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    script,
  ]);
  expect([stdout, stderr]).toEqual(['result\n', 'progress\n']);
});

test('passes each line of both outputs to a function, the last one without a line feed too', async () => {
  const lines = [];
  const script = 'echo one; echo two >&2; printf three';
  expect(await run('sh', ['-c', script], { onLine: (line) => lines.push(line) })).toBe(0);
  expect(lines.toSorted()).toEqual(['one', 'three', 'two']);
});

test('a stop signal ends all steps that run at the same time, and the process exits after the last one', async () => {
  const trap = (pause) =>
    `trap 'sleep ${pause}; echo stopped; exit 0' TERM; echo started; while :; do sleep 0.05; done`;
  const script = `
    import { runStep } from '${join(import.meta.dirname, 'run.js')}';
    const programs = ${JSON.stringify([trap(0), trap(0.5)])};
    await Promise.all(programs.map((program) => runStep('sh', ['-c', program], { onLine: console.log })));
    console.log('continued');`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script]);
  let output = '';
  parent.stdout.on('data', (chunk) => {
    output += chunk;
    if (output === 'started\nstarted\n') parent.kill('SIGTERM');
  });
  const [exitCode] = await once(parent, 'close');
  expect([output, exitCode]).toEqual(['started\nstarted\nstopped\nstopped\n', 143]);
});

test.each([
  ['run', 3],
  ['runStep', 143],
])('%s forwards a stop signal, waits for the program and ends', async (name, code) => {
  const program = `trap 'echo stopped in order; exit 3' TERM; echo started; while :; do sleep 0.05; done`;
  const script = `
    import { ${name} } from '${join(import.meta.dirname, 'run.js')}';
    process.exitCode = await ${name}('sh', ['-c', ${JSON.stringify(program)}]);`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', script]);
  let output = '';
  parent.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(parent.stdout, 'data');
  parent.kill('SIGTERM');
  const [exitCode] = await once(parent, 'close');
  expect(output).toBe('started\nstopped in order\n');
  expect(exitCode).toBe(code);
});
