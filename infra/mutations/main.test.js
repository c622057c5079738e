import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

test('a change of a pure module is killed by its tests', async () => {
  const args = [join(import.meta.dirname, 'main.js'), '--sample', '3', 'webhooks-rules'];
  // The variable of jest is for this test, not for the tests that Stryker runs.
  const { JEST_WORKER_ID: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, args, { env });
  expect(stdout).toMatch(/✓ webhooks-rules: 100\.0 % \(at least 80 %\): [1-9]\d* killed, 0 timed out/);
});
