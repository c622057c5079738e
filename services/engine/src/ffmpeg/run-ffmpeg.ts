import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import ffmpeg from 'fluent-ffmpeg';
import {
  endGroupWithLeader,
  limitLines,
  signalGroup,
  stopProcess,
  wasForced,
  wasKilled,
} from './process-group.ts';
import { ProgressReader } from './progress.ts';
import { TOOL_ENVIRONMENT, ToolError } from './run-tool.ts';

/** One call of ffmpeg: what stands before the input, the input, and each output with what stands before it. */
export type FfmpegCommandLine = {
  inputOptions: readonly string[];
  input: string;
  outputs: readonly { options: readonly string[]; path: string }[];
};

export type FfmpegRunOptions = {
  /** The confined ffmpeg (see media-tools.ts). */
  program: string;
  cwd: string;
  signal: AbortSignal;
  /** Longest time the run may take, held or not: nothing else would end a job whose storage barely moves. */
  limitSeconds: number;
  /** Longest time without new output. */
  stallSeconds: number;
  /** Most bytes of RAM it may hold. */
  memoryBytes: number;
  /** Called about twice a second with the frames of the first output's video so far; they only grow. */
  onProgress: (frames: number) => void;
  /** Looked at twice a second: while it is true, ffmpeg is held where it is. */
  mustWait: () => boolean;
};

/** Starts the process; the options go to `child_process.spawn`. */
type Spawn = (args: string[], options: object, ...callbacks: unknown[]) => void;

/** Lines of stderr that are kept for an error. */
const STDERR_LINES = 60;

const CHECK_MS = 500;

/**
 * Runs ffmpeg to its end. Throws a ToolError when it fails, hangs, takes too long or too much memory, and the signal's reason when
 * aborted; the process is gone in either case.
 *
 * The only file that knows fluent-ffmpeg. Its environment handling, progress and kill are not used: the program it is
 * given empties the environment and leads its own process group.
 */
export async function runFfmpeg(commandLine: FfmpegCommandLine, options: FfmpegRunOptions): Promise<void> {
  const { signal } = options;
  signal.throwIfAborted();
  const command = ffmpeg({ cwd: options.cwd, stdoutLines: STDERR_LINES })
    .setFfmpegPath(options.program)
    .input(commandLine.input)
    .inputOptions('-progress', 'pipe:1', '-nostats', ...commandLine.inputOptions);
  for (const { options: before, path } of commandLine.outputs) command.output(path).outputOptions(...before);
  const { _spawnFfmpeg: spawnFfmpeg } = command as unknown as { _spawnFfmpeg: Spawn };
  // It would run ffmpeg for lists of its formats and encoders first, where no limit and no signal reaches that.
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
  const limit = setTimeout(stop, options.limitSeconds * 1000, 'timeout');
  const stall = setTimeout(stop, options.stallSeconds * 1000, 'stalled');
  let isHeld = false;
  const pace = setInterval(() => {
    if (!child) return;
    const mustWait = options.mustWait();
    if (mustWait !== isHeld) signalGroup(child, mustWait ? 'SIGSTOP' : 'SIGCONT');
    if (isHeld) stall.refresh();
    isHeld = mustWait;
    void residentBytes(child.pid ?? 0).then((bytes) => bytes > options.memoryBytes && stop('memory'));
  }, CHECK_MS);
  const abort = () => stop();
  signal.addEventListener('abort', abort);

  command.on('start', () => {
    child = (command as unknown as { ffmpegProc: ChildProcess }).ffmpegProc;
    // Its own handler of a failed spawn throws where nobody can catch it.
    child.removeAllListeners('error').on('error', reject);
    endGroupWithLeader(child);
    limitLines(child, () => stop('output_limit'));
    const progress = new ProgressReader((frames) => {
      stall.refresh();
      options.onProgress(frames);
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => progress.push(text));
    if (signal.aborted || stoppedFor) stop();
  });
  command.on('end', () => resolve());
  command.on('error', (error: Error, _stdout: string | null, stderr: string | null) => {
    const { exitCode = null, signalCode = null } = child ?? {};
    const how = wasForced(exitCode, signalCode) ? 'sigkill' : wasKilled(exitCode) ? 'killed' : 'exit';
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
    clearTimeout(limit);
    clearTimeout(stall);
    clearInterval(pace);
    signal.removeEventListener('abort', abort);
  }
}

/**
 * Bytes of RAM that a process and all its descendants hold, shared pages counted for each. Zero for a process that is gone.
 *
 * A limit on address space (RLIMIT_AS) cannot stand in for it: with many threads a process reserves several times what it uses.
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
