/**
 * Why a tool did not do its work: it reported an error, it crashed or met one of its limits (`killed`), somebody other than
 * the engine sent SIGKILL (`forced`), it took too long or too much memory, or it printed too much.
 */
export type ToolEnd = 'exit' | 'killed' | 'forced' | 'timeout' | 'stalled' | 'memory' | 'talkative';

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
