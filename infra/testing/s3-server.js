import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runStep } from '../bootstrap/run.js';
import { report } from '../bootstrap/terminal.js';

/** Below the ephemeral ports of the system. */
const FIRST_PORT = 20_000;
const LAST_PORT = 30_000;
const PORTS_EACH = 5;

/** Another program may use the chosen ports. */
const STARTS = 3;

/**
 * Runs tests with an S3 server: the one of S3_TEST_ENDPOINT, else one that the program S3_TEST_TOOL starts, else a fake.
 * `test` receives environment variables.
 *
 * The commands of the program are `install`, `start`, which prints lines such as `S3_ENDPOINT=http://…`, and `stop`. It
 * keeps its files in S3_TEST_DIR and may use five ports from S3_TEST_PORT on.
 */
export async function withS3Server(test) {
  const { S3_TEST_ENDPOINT: given, S3_TEST_TOOL: tool } = process.env;
  if (given) {
    report(`S3 tests use the server at ${given}.`);
    return test({});
  }
  if (!tool) {
    report('S3 tests use a fake server. Set S3_TEST_ENDPOINT to use a real one.');
    return test({});
  }
  const directory = mkdtempSync(join(tmpdir(), 'framelane-s3-'));
  const env = { ...process.env, S3_TEST_DIR: join(directory, 'server') };
  const stop = () => {
    process.off('exit', stop);
    spawnSync(tool, ['stop'], { env, stdio: 'ignore' });
    rmSync(directory, { recursive: true, force: true });
  };
  // A stop signal ends this process without running the finally block.
  process.on('exit', stop);
  try {
    const started = await start(tool, env, join(directory, 'started'));
    if (started) report(`S3 tests use the server at ${started.S3_TEST_ENDPOINT}, started by S3_TEST_TOOL.`);
    else report('S3 tests use a fake server, because the real one could not be started.');
    return await test(started ?? {});
  } finally {
    stop();
  }
}

/** Resolves with the variables that lead to the server, or undefined without a server. */
async function start(tool, env, output) {
  if ((await runStep(tool, ['install'], { env, stdout: process.stderr })) !== 0) return undefined;
  for (let tries = 1; tries <= STARTS; tries += 1) {
    const slots = Math.floor((LAST_PORT - FIRST_PORT) / PORTS_EACH);
    const port = FIRST_PORT + PORTS_EACH * Math.floor(Math.random() * slots);
    const file = openSync(output, 'w');
    const code = await runStep(tool, ['start'], {
      env: { ...env, S3_TEST_PORT: String(port) },
      stdout: file,
    });
    closeSync(file);
    if (code === 0) return readVariables(readFileSync(output, 'utf8'));
  }
  return undefined;
}

/** `S3_REGION=x` → `{ S3_TEST_REGION: 'x' }`. */
function readVariables(lines) {
  return Object.fromEntries(
    [...lines.matchAll(/^S3_(\w+)=(.*)$/gm)].map(([, name, value]) => [`S3_TEST_${name}`, value]),
  );
}
