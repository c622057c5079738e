import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { PROJECT_NODE, ROOT } from './project.js';
import { runStep } from './run.js';
import { fail, report } from './terminal.js';

/** Contains the fingerprint of the last successful installation. */
const MARKER = join(ROOT, 'node_modules', '.framelane-install');

/**
 * Installs the dependencies of the lockfile, with the pnpm version that package.json pins. Does nothing, and needs no
 * network, while the fingerprint has not changed. Resolves with whether it installed.
 */
export async function installDependencies() {
  const wanted = fingerprint();
  if (existsSync(PROJECT_NODE) && readMarker() === wanted) return false;
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
      '--config.confirm-modules-purge=false',
    ],
    { env: { ...process.env, npm_config_update_notifier: 'false' }, stdout: process.stderr },
  );
  if (code !== 0) {
    fail(
      'The dependencies could not be installed; see the messages above. ' +
        'Check the network (or the proxy and registry settings of npm), then run the command again.',
    );
  }
  writeFileSync(MARKER, wanted);
  return true;
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
