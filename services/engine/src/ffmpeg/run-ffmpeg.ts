import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import ffmpeg from 'fluent-ffmpeg';
import {
  endGroupWithLeader,
  gotSigkill,
  limitLines,
  signalGroup,
  stopProcess,
  wasKilled,
} from '../sandbox/process-group.ts';
import { TOOL_ENVIRONMENT, ToolError, traceTool } from '../sandbox/run-tool.ts';
import { RunningLimit } from '../sandbox/running-limit.ts';
import { type ProgressKey, ProgressReader } from './progress.ts';

/** Seconds between two reports of progress. Finished segments are found then. */
const PROGRESS_SECONDS = '0.2';

/** The arguments of one ffmpeg run: input options, input, further inputs, and each output with its options. */
export type FfmpegCommandLine = {
  inputOptions: readonly string[];
  input: string;
  moreInputs?: readonly { options: readonly string[]; path: string }[];
  outputs: readonly { options: readonly string[]; path: string }[];
};

export type FfmpegRunOptions = {
  /** The confined ffmpeg (see media-tools.ts). */
  program: string;
  cwd: string;
  signal: AbortSignal;
  /** Maximum running time of this process during the run, pauses of ffmpeg included. It also ends a run that stays paused because segments can hardly be uploaded. */
  limitSeconds: number;
  /** Maximum time without progress. Pauses do not count. */
  stallSeconds: number;
  /** Maximum RAM in bytes. */
  memoryBytes: number;
  /** The key of ffmpeg's `-progress` output to report. */
  progressKey: ProgressKey;
  /** Called about twice a second with the progress so far. It only increases. */
  onProgress: (value: number) => void;
  /** Checked twice a second. While it returns true, ffmpeg is paused. */
  mustPause: () => boolean;
};

/** fluent-ffmpeg's internal method that starts the process. The options go to `child_process.spawn`. */
type Spawn = (args: string[], options: object, ...callbacks: unknown[]) => void;

/** Lines of each output that fluent-ffmpeg keeps; those of stderr are for an error. */
export const KEPT_LINES = 60;

/** Maximum length of an output line in characters. A message of ffmpeg has at most 1024, and a line may consist of several. */
export const MAX_LINE_LENGTH = 16 * 1024;

const CHECK_MS = 500;

/**
 * Runs ffmpeg to its end. Throws a ToolError when it fails, hangs, times out, uses too much memory or prints too long a line; the error of
 * the operating system when it cannot be started; and the reason of the signal when that aborts. The process has ended in every case.
 *
 * This is the only file that uses fluent-ffmpeg. It does not use that library's environment, progress and kill functions: the launch script
 * clears the environment and leads its own process group.
 */
export function runFfmpeg(commandLine: FfmpegCommandLine, options: FfmpegRunOptions): Promise<void> {
  return traceTool(options.program, () => runToEnd(commandLine, options));
}

async function runToEnd(commandLine: FfmpegCommandLine, options: FfmpegRunOptions): Promise<void> {
  const { signal } = options;
  signal.throwIfAborted();
  const command = ffmpeg({ cwd: options.cwd, stdoutLines: KEPT_LINES })
    .setFfmpegPath(options.program)
    .input(commandLine.input)
    .inputOptions(
      '-progress',
      'pipe:1',
      '-stats_period',
      PROGRESS_SECONDS,
      '-nostats',
      ...commandLine.inputOptions,
    );
  for (const { options: before, path } of commandLine.moreInputs ?? [])
    command.input(path).inputOptions(...before);
  for (const { options: before, path } of commandLine.outputs) command.output(path).outputOptions(...before);
  const { _spawnFfmpeg: spawnFfmpeg } = command as unknown as { _spawnFfmpeg: Spawn };
  // By default, fluent-ffmpeg first runs ffmpeg to list formats and encoders. No limit and no signal applies to those runs.
  Object.assign(command, {
    _spawnFfmpeg: ((args, spawnOptions, ...callbacks) =>
      spawnFfmpeg.call(command, args, { ...spawnOptions, env: TOOL_ENVIRONMENT }, ...callbacks)) as Spawn,
    _checkCapabilities: (done: () => void) => done(),
    availableEncoders: (done: (error: null, encoders: object) => void) => done(null, {}),
  });

  const { promise: ended, resolve, reject } = Promise.withResolvers<void>();
  let child: ChildProcess | undefined;
  let stoppedFor: 'timeout' | 'stalled' | 'memory' | 'output_limit' | undefined;
  const stop = (why?: typeof stoppedFor) => {
    stoppedFor ??= why;
    if (child) stopProcess(child);
  };
  const limit = new RunningLimit(options.limitSeconds, () => stop('timeout'));
  const stall = new RunningLimit(options.stallSeconds, () => stop('stalled'));
  let isPaused = false;
  const check = setInterval(() => {
    if (!child) return;
    const mustPause = options.mustPause();
    if (mustPause !== isPaused) signalGroup(child, mustPause ? 'SIGSTOP' : 'SIGCONT');
    if (isPaused) stall.refresh();
    isPaused = mustPause;
    void residentBytes(child.pid ?? 0).then((bytes) => bytes > options.memoryBytes && stop('memory'));
  }, CHECK_MS);
  const abort = () => stop();
  signal.addEventListener('abort', abort);

  command.on('start', () => {
    child = (command as unknown as { ffmpegProc: ChildProcess }).ffmpegProc;
    // fluent-ffmpeg's own handler of a failed spawn throws an error that cannot be caught.
    child.removeAllListeners('error').on('error', reject);
    endGroupWithLeader(child);
    limitLines(child, MAX_LINE_LENGTH, () => stop('output_limit'));
    const { progressKey, onProgress } = options;
    const progress = new ProgressReader(progressKey, { onProgress, onMove: () => stall.refresh() });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => progress.push(text));
    if (signal.aborted || stoppedFor) stop();
  });
  command.on('end', () => resolve());
  command.on('error', (error: Error, _stdout: string | null, stderr: string | null) => {
    const { exitCode = null, signalCode = null } = child ?? {};
    const how = gotSigkill(exitCode, signalCode) ? 'sigkill' : wasKilled(exitCode) ? 'killed' : 'exit';
    reject(new ToolError(stoppedFor ?? how, error.message, stderr ?? ''));
  });
  try {
    command.run();
    await ended;
    signal.throwIfAborted();
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    limit.clear();
    stall.clear();
    clearInterval(check);
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Bytes of RAM that a process and all its descendants use. Shared pages count for each process. Zero for a process that has ended.
 *
 * A limit on the address space (RLIMIT_AS) does not replace this measurement: with many threads, a process reserves several times
 * what it uses.
 */
async function residentBytes(pid: number): Promise<number> {
  const read = (file: string) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const [status, children] = await Promise.all([read('status'), read(`task/${pid}/children`)]);
  const [, kibibytes = '0'] = /^VmRSS:\s*(\d+) kB$/m.exec(status) ?? [];
  const ofChildren = await Promise.all(
    children
      .split(' ')
      .filter((child) => child !== '')
      .map((child) => residentBytes(Number(child))),
  );
  return ofChildren.reduce((sum, bytes) => sum + bytes, Number(kibibytes) * 1024);
}
