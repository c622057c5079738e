import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processesUsing } from '../../packages/test-kit/src/processes.ts';
import { SingleNodeProcess } from '../../packages/test-kit/src/single-node-process.ts';
import { runJest } from './jest-check.js';

const WORKSPACE_ID = 'ws_01j9z3w8x2f5m7k4q6r8t0v1ye';

/**
 * Runs the black-box suite against a single node that it starts and stops. The clean stop counts as one more test.
 * Prints the node's log after a failure. `args` are arguments of jest; `output` is an option of `runStep`.
 */
export async function runAcceptance({ args = [], output = {} } = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'framelane-acceptance-'));
  const apiKey = `svc_live_${randomBytes(32).toString('hex')}`;
  try {
    const node = await SingleNodeProcess.start(dataDir, {
      BOOTSTRAP_WORKSPACE_ID: WORKSPACE_ID,
      BOOTSTRAP_API_KEY: apiKey,
    });
    const env = {
      FRAMELANE_BASE_URL: node.baseUrl,
      FRAMELANE_ENGINE_URL: node.engineUrl,
      FRAMELANE_WORKSPACE_ID: WORKSPACE_ID,
      FRAMELANE_API_KEY: apiKey,
      FRAMELANE_OBJECTS_DIR: join(dataDir, 'objects'),
    };
    const { passed, failed, failures } = await runJest('acceptance', { env, args, output });
    const problem = await problemAtStop(node);
    if (problem !== undefined) failures.push(problem);
    if (failed > 0 || problem !== undefined) console.error(`\nThe node's log:\n${node.output}`);
    return problem === undefined
      ? { passed: passed + 1, failed, failures }
      : { passed, failed: failed + 1, failures };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Stops the node and resolves with what went wrong, or undefined. */
async function problemAtStop(node) {
  const { code, signal } = await node.stop();
  if (code !== 0) return `The single node stopped with ${signal ?? `exit code ${code}`} after SIGTERM.`;
  const left = await processesUsing(node.dataDir);
  if (left.length > 0)
    return `The single node left processes behind:\n${left.map(({ command }) => command).join('\n')}`;
  return undefined;
}
