import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { PROJECT_NODE, ROOT } from './project.js';
import { runStep } from './run.js';
import { report } from './terminal.js';

/** Contains the fingerprint of the last successful installation. */
const MARKER = join(ROOT, 'node_modules', '.framelane-install');

/** Whether the installed dependencies are those of the lockfile: whether the fingerprint has not changed. */
export function dependenciesAreInstalled() {
  return existsSync(PROJECT_NODE) && readMarker() === fingerprint();
}

/**
 * Installs the dependencies of the lockfile, with the pnpm version that package.json pins. Resolves with a message if it
 * fails.
 */
export async function installDependencies() {
  const wanted = fingerprint();
  rmSync(MARKER, { force: true });
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  report(`Installing dependencies with ${packageManager} …`);
  const code = await runStep(
    'npx',
    [
      '--yes',
      '--loglevel=error',
      packageManager,
      'install',
      '--loglevel=info',
      '--frozen-lockfile',
      // pnpm's default reporter moves the cursor, and apt-get may print at the same time.
      '--reporter=append-only',
      '--config.confirm-modules-purge=false',
    ],
    { env: { ...process.env, npm_config_update_notifier: 'false' }, stdout: process.stderr },
  );
  if (code !== 0) {
    return (
      'The dependencies could not be installed; see the messages above. ' +
      'Check the network (or the proxy and registry settings of npm), then run the command again.'
    );
  }
  writeFileSync(MARKER, wanted);
  return undefined;
}

/**
 * A hash of the lockfile, the workspace's settings, every package.json, the operating system and the CPU architecture.
 */
function fingerprint() {
  const packages = ['packages', 'services'].flatMap((group) =>
    readdirSync(join(ROOT, group)).map((name) => join(group, name, 'package.json')),
  );
  const files = [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    'package.json',
    'openapi/package.json',
    ...packages,
  ];
  const hash = createHash('sha256').update(`${platform()}-${arch()}`);
  for (const file of files.map((name) => join(ROOT, name)).filter(existsSync))
    hash.update(readFileSync(file));
  return hash.digest('hex');
}

function readMarker() {
  return existsSync(MARKER) ? readFileSync(MARKER, 'utf8') : undefined;
}
