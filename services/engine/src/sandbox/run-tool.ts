import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { withSpan } from '@framelane/service-kit/tracing';
import { endGroupWithLeader, gotSigkill, limitLines, stopProcess, wasKilled } from './process-group.ts';
import { RunningLimit } from './running-limit.ts';

/**
 * How a tool failed:
 * - `exit`: with an exit code.
 * - `killed`: by a signal, after a crash or at a resource limit.
 * - `sigkill`: by a SIGKILL that the engine did not send.
 * - `timeout`, `stalled`, `memory`, `output_limit`: the engine ended it, because it took too long, produced no frame for too long,
 *   used too much memory, or printed too much.
 */
export type ToolEnd = 'exit' | 'killed' | 'sigkill' | 'timeout' | 'stalled' | 'memory' | 'output_limit';

/** Characters of stderr in the message. */
const QUOTED = 500;

/** ffmpeg or ffprobe failed. The message is for the log only: it contains output of the tool. */
export class ToolError extends Error {
  override name = 'ToolError';
  readonly end: ToolEnd;
  /** The end of what the tool wrote to stderr. */
  readonly stderr: string;

  constructor(end: ToolEnd, what: string, stderr: string) {
    super(`${what}: ${stderr.trim().slice(-QUOTED)}`);
    this.end = end;
    this.stderr = stderr;
  }
}

/** Maximum length of an output line in characters: more than ffprobe may print about a whole file. */
const MAX_LINE_LENGTH = 1024 ** 2;

/** Characters kept from the end of stderr. */
const STDERR_KEPT = 8192;

/** The launch script gets none of the engine's secrets either: without a sandbox, an earlier tool may have changed it. */
export const TOOL_ENVIRONMENT: NodeJS.ProcessEnv = { PATH: process.env.PATH };

/** Runs a tool in a span. Its arguments are no attributes: they contain texts of files. */
export function traceTool<T>(program: string, run: () => Promise<T>): Promise<T> {
  const name = basename(program);
  return withSpan(name, { attributes: { 'process.executable.name': name } }, async (span) => {
    try {
      const result = await run();
      span?.set({ 'process.exit.code': 0 });
      return result;
    } catch (error) {
      if (error instanceof ToolError) span?.fail(error.end);
      throw error;
    }
  });
}

type ToolOptions = {
  cwd: string;
  signal: AbortSignal;
  limitSeconds: number;
  onLine: (line: string) => void;
  /** Maximum number of characters of output. */
  limitOutput?: number;
};

/**
 * Runs a confined tool to its end and passes each line of its output to `onLine`. Resolves with the end of what it wrote to stderr.
 *
 * Throws a ToolError when the tool fails, exceeds `limitSeconds` of running time or prints too much, the reason of the signal when it aborts, and
 * whatever `onLine` throws. The process has ended in every case.
 */
export function runTool(program: string, args: readonly string[], options: ToolOptions): Promise<string> {
  return traceTool(program, () => runToEnd(program, args, options));
}

async function runToEnd(program: string, args: readonly string[], options: ToolOptions): Promise<string> {
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
  limitLines(child, MAX_LINE_LENGTH, () => stop('output_limit'));
  const limit = new RunningLimit(limitSeconds, () => stop('timeout'));
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
    const [code, signal] = await closed;
    options.signal.throwIfAborted();
    if (failure) throw failure.error;
    if (stoppedFor === 'timeout') throw new ToolError('timeout', `Timed out after ${limitSeconds} s`, stderr);
    if (stoppedFor) throw new ToolError(stoppedFor, 'Printed more than the limit', stderr);
    if (gotSigkill(code, signal)) throw new ToolError('sigkill', 'Ended by SIGKILL', stderr);
    if (wasKilled(code)) throw new ToolError('killed', `Ended by ${signal ?? code}`, stderr);
    if (code !== 0) throw new ToolError('exit', `Ended with code ${code}`, stderr);
    return stderr;
  } finally {
    limit.clear();
    options.signal.removeEventListener('abort', abort);
  }
}
