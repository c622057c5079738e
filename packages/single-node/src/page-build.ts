import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Logger } from '@framelane/service-kit/logger';
import { type FrontEnd, findBuild, folderOf, keyOf } from '@framelane/web-build/front-ends';

/** The build of a front end in a process of its own. */
export type PageBuild = {
  failed(): boolean;
  /** Resolves when the build has ended, in any way. */
  ended: Promise<void>;
  stop(): Promise<void>;
};

/** The largest build, for which nobody waits at a start. It leaves the processors to the others. */
const AFTER_OTHERS: FrontEnd = 'docs-site';

/** The end of the output that goes to the log after a failure, in characters. */
const LOGGED_OUTPUT = 2000;

/** Builds a front end unless it is built or its folder is missing. Never throws; a failure goes to the log. */
export function startPageBuild(logger: Logger, page: FrontEnd, folder = folderOf(page)): PageBuild {
  if (!existsSync(folder) || findBuild(folder, keyOf(folder)) !== undefined) {
    return { failed: () => false, ended: Promise.resolve(), stop: async () => {} };
  }
  const program = fileURLToPath(import.meta.resolve('@framelane/web-build/main'));
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'pipe'] });
  if (page === AFTER_OTHERS && child.pid !== undefined)
    setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
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
    if (!stopping) logger.error('pages.build_failed', { page, ...details });
  };
  const ended = once(child, 'close').then(
    ([code]) => {
      if (code === 0) logger.info('pages.built', { page });
      else fail({ output });
    },
    // The process could not be started.
    (error: unknown) => fail({ error }),
  );
  return {
    failed: () => failed,
    ended,
    stop: async () => {
      stopping = true;
      child.kill();
      await ended;
    },
  };
}
