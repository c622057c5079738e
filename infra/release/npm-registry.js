import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { freePort, startServer } from './started-server.js';

/**
 * Starts an npm registry (Verdaccio) on this machine that takes our packages from everybody, and all others from `upstream`. Resolves with its
 * URL, and a function that stops it.
 */
export async function startNpmRegistry(folder, { version, upstream, names }) {
  const url = `http://127.0.0.1:${await freePort()}/`;
  const ours = Object.fromEntries(names.map((name) => [name, { access: '$all', publish: '$all' }]));
  const config = join(folder, 'verdaccio.yaml');
  writeFileSync(
    config,
    stringify({
      storage: join(folder, 'packages'),
      uplinks: { upstream: { url: upstream, timeout: '60s' } },
      packages: { ...ours, '**': { access: '$all', proxy: 'upstream' } },
      max_body_size: '100mb',
      log: { type: 'stdout', level: 'warn' },
    }),
  );
  const args = [installed(folder, version), '--config', config, '--listen', url];
  const log = join(folder, 'verdaccio.log');
  const stop = await startServer(process.execPath, args, { url: `${url}-/ping`, env: process.env, log });
  return { url, stop };
}

/** Installs Verdaccio in a folder of its own. Returns the path of its program. */
function installed(folder, version) {
  const program = join(folder, 'verdaccio');
  mkdirSync(program);
  // It asks for a tag, which not every registry has.
  const manifest = { dependencies: { verdaccio: version }, overrides: { 'node-fetch': '2.7.0' } };
  writeFileSync(join(program, 'package.json'), JSON.stringify(manifest));
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: program,
    stdio: 'pipe',
  });
  return join(program, 'node_modules/verdaccio/bin/verdaccio');
}
