import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../packages/test-kit/src/free-ports.ts';
import { OPENID_CLIENT, OpenIdProviderServer } from '../../packages/test-kit/src/openid-provider.ts';
import { processesUsing } from '../../packages/test-kit/src/processes.ts';
import { SingleNodeProcess } from '../../packages/test-kit/src/single-node-process.ts';
import { SpeechServer } from '../../packages/test-kit/src/speech.ts';
import { runJest } from './jest-check.js';

const WORKSPACE_ID = 'ws_01j9z3w8x2f5m7k4q6r8t0v1ye';
/** The sentences that the recogniser of speech understands. */
const SPOKEN = ['Good morning this is a test of the system.', 'The weather is fine today.'];
/** With markup, which the page has to show as text. */
const PROVIDER_NAME = 'Acme <b>&amp;</b>';

/**
 * Runs the black-box suite against a single node that it starts and stops. The clean stop counts as one more test.
 * Prints the node's log after a failure. `args` are arguments of jest; `output` has options of `runStep` for the output.
 */
export async function runAcceptance({ args = [], output = {} } = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), 'framelane-acceptance-'));
  const packages = await mkdtemp(join(tmpdir(), 'framelane-packages-'));
  const apiKey = `svc_live_${randomBytes(32).toString('hex')}`;
  const [port, enginePort] = await freePorts(2);
  // At 127.0.0.1, which for browsers is another site than localhost.
  const speech = await SpeechServer.start(SPOKEN);
  const provider = await OpenIdProviderServer.start({
    redirectUri: `http://localhost:${port}/console/sign-in/callback`,
  });
  try {
    const node = await SingleNodeProcess.start(dataDir, {
      PORT: String(port),
      ENGINE_PORT: String(enginePort),
      BOOTSTRAP_WORKSPACE_ID: WORKSPACE_ID,
      BOOTSTRAP_API_KEY: apiKey,
      // The tests of a single node and of pieces use the default, which takes longer.
      ENGINE_PRESET: 'ultrafast',
      // The tests import files from their own server at this address.
      IMPORT_ALLOW_CIDRS: '127.0.0.0/8',
      OIDC_ISSUER: provider.issuer,
      OIDC_CLIENT_ID: OPENID_CLIENT.id,
      OIDC_CLIENT_SECRET: OPENID_CLIENT.secret,
      OIDC_NAME: PROVIDER_NAME,
      RECOGNIZER_URL: speech.url,
    });
    const env = {
      FRAMELANE_BASE_URL: node.baseUrl,
      FRAMELANE_ENGINE_URL: node.engineUrl,
      FRAMELANE_WORKSPACE_ID: WORKSPACE_ID,
      FRAMELANE_API_KEY: apiKey,
      FRAMELANE_OBJECTS_DIR: join(dataDir, 'objects'),
      FRAMELANE_PACKAGES_DIR: packages,
      FRAMELANE_SIGN_IN_PROVIDER: PROVIDER_NAME,
      FRAMELANE_RECOGNIZED: JSON.stringify(SPOKEN),
    };
    const { passed, failed, failures } = await runJest('acceptance', { env, args, output });
    const problem = await problemAtStop(node);
    if (problem !== undefined) failures.push(problem);
    if (failed > 0 || problem !== undefined) console.error(`\nThe node's log:\n${node.output}`);
    return problem === undefined
      ? { passed: passed + 1, failed, failures }
      : { passed, failed: failed + 1, failures };
  } finally {
    await provider.stop();
    await speech.stop();
    await rm(dataDir, { recursive: true, force: true });
    await rm(packages, { recursive: true });
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
