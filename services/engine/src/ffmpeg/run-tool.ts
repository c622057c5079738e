import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { endGroupWithLeader, limitLines, stopProcess, wasForced, wasKilled } from './process-group.ts';

/**
 * Why a tool did not do its work: it reported an error, it crashed or met one of its limits (`killed`), somebody other than
 * the engine sent SIGKILL (`forced`), it took too long or too much memory, or it printed too much.
 */
export type ToolEnd = 'exit' | 'killed' | 'sigkill' | 'timeout' | 'stalled' | 'memory' | 'output_limit';

/** Characters of stderr that go into the message. */
const QUOTED = 500;

/** ffmpeg or ffprobe failed. The message ends with what it wrote last, so it is for the log only. */
export class ToolError extends Error {
  override name = 'ToolError';
  readonly end: ToolEnd;
  /** The last lines it wrote. */
  readonly stderr: string;

  constructor(end: ToolEnd, what: string, stderr: string) {
    super(`${what}: ${stderr.trim().slice(-QUOTED)}`);
    this.end = end;
    this.stderr = stderr;
  }
}

/** Characters of stderr that are kept, from its end. */
const STDERR_KEPT = 8192;

/** Not even the script that starts a tool gets the engine's secrets: without a sandbox, an earlier tool may have changed it. */
export const TOOL_ENVIRONMENT: NodeJS.ProcessEnv = { PATH: process.env.PATH };

/**
 * Runs a confined tool to its end and hands over what it prints line by line.
 *
 * Throws a ToolError when the tool fails, takes longer than `limitSeconds` or prints too much, the signal's reason when
 * aborted, and whatever `onLine` throws. The process is gone in any case.
 */
export async function runTool(
  program: string,
  args: readonly string[],
  options: {
    cwd: string;
    signal: AbortSignal;
    limitSeconds: number;
    onLine: (line: string) => void;
    /** Characters it may print. */
    limitOutput?: number;
  },
): Promise<void> {
  options.signal.throwIfAborted();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: TOOL_ENVIRONMENT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endGroupWithLeader(child);
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_KEPT);
  });
  let stoppedFor: 'timeout' | 'output_limit' | undefined;
  const stop = (why: typeof stoppedFor) => {
    stoppedFor ??= why;
    stopProcess(child);
  };
  const { limitSeconds, limitOutput = Number.POSITIVE_INFINITY } = options;
  limitLines(child, () => stop('output_limit'));
  const timer = setTimeout(stop, limitSeconds * 1000, 'timeout');
  let printed = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text.length;
    if (printed <= limitOutput) return;
    child.stdout.destroy();
    stop('output_limit');
  });
  let failure: { error: unknown } | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (failure) return;
    try {
      options.onLine(line);
    } catch (error) {
      failure = { error };
      stopProcess(child);
    }
  });

  const abort = () => stopProcess(child);
  options.signal.addEventListener('abort', abort);
  try {
    const [code, killedBy] = await closed;
    options.signal.throwIfAborted();
    if (failure) throw failure.error;
    if (stoppedFor === 'timeout') throw new ToolError('timeout', `Not done after ${limitSeconds} s`, stderr);
    if (stoppedFor) throw new ToolError(stoppedFor, `Printed more than ${limitOutput} characters`, stderr);
    if (wasForced(code, killedBy)) throw new ToolError('sigkill', 'Killed by SIGKILL', stderr);
    if (wasKilled(code)) throw new ToolError('killed', `Killed by ${killedBy ?? code}`, stderr);
    if (code !== 0) throw new ToolError('exit', `Ended with code ${code}`, stderr);
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', abort);
  }
}
