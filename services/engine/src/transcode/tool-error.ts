/** Why a tool did not do its work: it said so itself, something killed it, or it took too long. */
export type ToolEnd = 'exit' | 'killed' | 'timeout' | 'stalled';

/** ffmpeg or ffprobe failed. `stderr` holds the last lines it wrote; they may quote the file, so they are for the log only. */
export class ToolError extends Error {
  override name = 'ToolError';
  readonly end: ToolEnd;
  readonly stderr: string;

  constructor(end: ToolEnd, message: string, stderr: string) {
    super(message);
    this.end = end;
    this.stderr = stderr;
  }
}
