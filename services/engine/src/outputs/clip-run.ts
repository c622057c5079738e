import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import { explainToolError } from '../ffmpeg/errors.ts';
import { grantFolder, OUTPUT_FOLDER } from '../sandbox/job-folder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { hostileOutput, ToolOutput, ToolOutputError } from '../sandbox/tool-output.ts';
import type { ClipJob, OfClip } from './kinds.ts';
import { OF_CLIPS } from './outputs.ts';
import { makeClipRenditions } from './renditions/clip/clip-renditions.ts';
import type { RunContext } from './stored-run.ts';

/**
 * Makes all outputs of a clip from the stored renditions of its parent, in a directory with an empty folder for inputs. Throws a TranscodeFailure,
 * an InvalidSegmentError, or the signal's reason when aborted. After a failure, stored objects remain; the caller removes them.
 */
export async function runClip(job: ClipJob, directory: string, context: RunContext): Promise<TaskResult> {
  const folder = join(directory, OUTPUT_FOLDER);
  await mkdir(folder);
  await grantFolder(folder, 'write', context.tools.account);
  const files = await ToolOutput.open(folder);
  try {
    const renditions = await makeClipRenditions(job, { directory, files }, context);
    const made = { renditions, directory, files };
    const others: [string, unknown][] = [];
    for (const [name, make] of Object.entries(OF_CLIPS))
      if (make !== null) others.push([name, await (make as OfClip<unknown>)(job, made, context)]);
    return { ...Object.fromEntries(others), renditions };
  } catch (error) {
    if (error instanceof ToolOutputError) throw hostileOutput(error);
    throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
  } finally {
    await files.close();
  }
}
