import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, jest, test } from '@jest/globals';
import { endGroupWithLeader, gotSigkill, signalGroup, stopProcess, wasKilled } from './process-group.ts';

test.each([
  [null, true],
  [137, true],
  [139, true],
  [0, false],
  [1, false],
  // ffmpeg's exit codes for AVERROR_INVALIDDATA and EINVAL.
  [183, false],
  [234, false],
  [255, false],
])('exit code %s: killed %s', (code, killed) => {
  expect(wasKilled(code)).toBe(killed);
});

test.each([
  [null, 'SIGKILL', true],
  [137, null, true],
  [null, 'SIGSEGV', false],
  [139, null, false],
  [0, null, false],
] as const)('exit code %s, signal %s: SIGKILL %s', (code, signal, forced) => {
  expect(gotSigkill(code, signal)).toBe(forced);
});

test('after the exit of the leader the group gets SIGKILL once, and no later signal, because its id may be reused', async () => {
  const kill = jest.spyOn(process, 'kill');
  const child = spawn('setsid', ['sh', '-c', 'sleep 60 & exit 0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  endGroupWithLeader(child);
  const closed = once(child, 'close');
  await once(child, 'exit');
  stopProcess(child);
  signalGroup(child, 'SIGSTOP');
  expect(kill.mock.calls).toEqual([[-(child.pid ?? 0), 'SIGKILL']]);
  kill.mockRestore();
  await closed;
});
