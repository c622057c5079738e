import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { Derivation } from '@framelane/contracts/outputs/tasks';
import type { DerivationJob } from '../outputs/kinds.ts';
import { runDerivation } from '../outputs/run-task.ts';
import { grantFolder, SOURCE_FOLDER } from '../sandbox/job-folder.ts';
import { removeJobDirectory, type TranscodeJobContext } from './job-source.ts';

/** Runs a derivation in a new directory with an empty folder for its inputs, and removes the directory. */
export async function runDerivationJob(
  job: DerivationJob<Derivation>,
  context: TranscodeJobContext,
): Promise<TaskResult> {
  const directory = await mkdtemp(join(context.jobsDir, 'job-'));
  try {
    await mkdir(join(directory, SOURCE_FOLDER));
    await grantFolder(directory, 'pass', context.tools.account);
    await grantFolder(join(directory, SOURCE_FOLDER), 'read', context.tools.account);
    return await runDerivation(job, directory, context);
  } finally {
    await removeJobDirectory(directory, job.output.facts, context);
  }
}
