import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { explainToolError } from '../ffmpeg/errors.ts';
import { type FfmpegCommandLine, runFfmpeg } from '../ffmpeg/run-ffmpeg.ts';
import { grantFolder, OUTPUT_FOLDER } from '../sandbox/job-folder.ts';
import { ToolError } from '../sandbox/run-tool.ts';
import { hostileOutput, readFrom, ToolOutput, ToolOutputError } from '../sandbox/tool-output.ts';
import { incompleteOutput } from '../transcode-failure.ts';
import { withStorageRetries } from './storage-retries.ts';
import type { RunContext } from './stored-run.ts';

/** A run of ffmpeg that writes one file, and how the file is stored. */
export type FileRun = {
  commandLine: FfmpegCommandLine;
  /** The launch script of ffmpeg (see media-tools.ts). */
  program: string;
  /** Maximum running time, and maximum time without progress. */
  limitSeconds: number;
  stallSeconds: number;
  /** Maximum RAM in bytes. By default that of a transcode. */
  memoryBytes?: number;
  /** Called with the seconds of the output that are written. */
  onProgress?: (seconds: number) => void;
  /** The name of the file, in the folder of the outputs and below the prefix of its key. */
  file: string;
  maxBytes: number;
  contentType: string;
  prefix: string;
};

const MICROSECONDS = 1_000_000;

/** Runs ffmpeg and stores its file. Resolves with the size of the file. Throws a TranscodeFailure, or the reason of the signal. */
export async function makeFile(run: FileRun, directory: string, context: RunContext): Promise<number> {
  const { tools, settings, signal } = context;
  const folder = join(directory, OUTPUT_FOLDER);
  await mkdir(folder);
  await grantFolder(folder, 'write', tools.account);
  const files = await ToolOutput.open(folder);
  try {
    await runFfmpeg(run.commandLine, {
      program: run.program,
      cwd: directory,
      signal,
      limitSeconds: run.limitSeconds,
      stallSeconds: run.stallSeconds,
      memoryBytes: run.memoryBytes ?? settings.limits.memoryBytes,
      progressKey: 'out_time_us',
      onProgress: (value) => run.onProgress?.(value / MICROSECONDS),
      mustPause: () => false,
    });
    return await storeFile(files, run, context);
  } catch (error) {
    if (error instanceof ToolOutputError) throw hostileOutput(error);
    throw error instanceof ToolError ? explainToolError(error, 'encode') : error;
  } finally {
    await files.close();
  }
}

async function storeFile(
  files: ToolOutput,
  { file: name, maxBytes, contentType, prefix }: FileRun,
  { objects, signal }: RunContext,
): Promise<number> {
  const file = await files.file(name, maxBytes);
  if (file === null) throw incompleteOutput(`${name} is missing`);
  try {
    if (file.bytes === 0) throw incompleteOutput(`${name} is empty`);
    const { bytes } = await withStorageRetries(
      () => objects.putStream(`${prefix}${name}`, readFrom(file), { contentType, signal }),
      signal,
    );
    return bytes;
  } finally {
    await file.handle.close();
  }
}
