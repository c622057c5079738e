import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account } from '@framelane/service-kit/system-account';
import { grantFile, OUTPUT_FOLDER, SOURCE_FOLDER } from '../sandbox/job-folder.ts';
import { runTool, ToolError } from '../sandbox/run-tool.ts';
import { hostileOutput, ToolOutput, ToolOutputError } from '../sandbox/tool-output.ts';
import { MAX_ANSWER_BYTES, type Recognizer } from './recognizer.ts';
import { recognizerFailure, recognizerTimeout } from './recognizer-failure.ts';

/** The program loads its model for each part of the sound, so the parts are long. */
const MAX_SECONDS = 600;

const RETRY_DELAYS_MS = [500, 2000];

const SOUND = 'sound.wav';
const ANSWER = 'answer';

/** Characters that the program may print: it prints the text, too. */
const MAX_PRINTED = 2 * 1024 ** 2;

/**
 * A program with the arguments and the output of `whisper-cli` of whisper.cpp, confined like ffmpeg.
 *
 * @param script the launch script of the program
 */
export function programRecognizer(
  script: string,
  {
    model,
    timeoutSeconds,
    threads,
    account,
  }: { model: string; timeoutSeconds: number; threads: number; account: Account | null },
): Recognizer {
  return {
    maxSeconds: MAX_SECONDS,
    retryDelaysMs: RETRY_DELAYS_MS,
    isLocal: true,
    recognize: async ({ wav }, { language, directory, signal }) => {
      const sound = join(directory, SOURCE_FOLDER, SOUND);
      const output = await ToolOutput.open(join(directory, OUTPUT_FOLDER));
      try {
        await writeFile(sound, wav);
        await grantFile(sound, account);
        await runTool(script, argumentsOf({ model, language, threads }), {
          cwd: directory,
          signal,
          limitSeconds: timeoutSeconds,
          limitOutput: MAX_PRINTED,
          onLine: () => {},
        });
        return await readAndRemove(output, `${ANSWER}.json`);
      } catch (error) {
        if (error instanceof ToolOutputError) throw hostileOutput(error);
        if (!(error instanceof ToolError)) throw error;
        if (error.end === 'timeout') throw recognizerTimeout(timeoutSeconds);
        throw recognizerFailure('The recogniser has failed', {
          retryable: error.end !== 'output_limit',
          cause: error,
        });
      } finally {
        await output.close();
        await rm(sound, { force: true });
      }
    },
  };
}

/** `-ojf`: JSON with the times of each part of a word. `-np`: no messages. */
function argumentsOf({
  model,
  language,
  threads,
}: {
  model: string;
  language: string | null;
  threads: number;
}): string[] {
  return [
    ...['-m', model, '-f', `${SOURCE_FOLDER}/${SOUND}`, '-l', language ?? 'auto', '-t', String(threads)],
    ...['-ojf', '-of', `${OUTPUT_FOLDER}/${ANSWER}`, '-np'],
  ];
}

/** The text of a file that the program has written. The next part of the sound gets a new file. */
async function readAndRemove(output: ToolOutput, name: string): Promise<string> {
  const file = await output.file(name, MAX_ANSWER_BYTES);
  if (file === null) throw recognizerFailure('The recogniser has written no answer', { retryable: true });
  try {
    const { buffer, bytesRead } = await file.handle.read(Buffer.alloc(file.bytes), 0, file.bytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.handle.close();
    await output.remove(name);
  }
}
