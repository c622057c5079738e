import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@framelane/service-kit/logger';
import { findBuild, folderOf, keyOf } from '@framelane/web-build/front-ends';

/** The build of the player page in a process of its own. */
export type PlayerBuild = { failed(): boolean; stop(): Promise<void> };

/** The end of the output that goes to the log after a failure, in characters. */
const LOGGED_OUTPUT = 2000;

/** Builds the player page unless it is built. Never throws; a failure goes to the log. */
export function startPlayerBuild(logger: Logger): PlayerBuild {
  const folder = folderOf('player');
  if (findBuild(folder, keyOf(folder)) !== undefined) return { failed: () => false, stop: async () => {} };
  const program = fileURLToPath(import.meta.resolve('@framelane/web-build/main'));
  const child = spawn(process.execPath, [program], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-LOGGED_OUTPUT);
    });
  }
  let failed = false;
  let stopping = false;
  const fail = (details: object) => {
    failed = true;
    if (!stopping) logger.error('player.build_failed', details);
  };
  child.on('error', (error) => fail({ error }));
  const closed = once(child, 'close').then(
    ([code]) => (code === 0 ? logger.info('player.built') : fail({ output })),
    () => {},
  );
  return {
    failed: () => failed,
    stop: async () => {
      stopping = true;
      child.kill();
      await closed;
    },
  };
}
