import { SOURCE_INPUT } from '../sandbox/job-folder.ts';
import { runTool, ToolError } from '../sandbox/run-tool.ts';
import type { TranscodeLimits } from '../transcode-settings.ts';
import { DECODE_OPTIONS } from './whitelist.ts';

/** Maximum number of characters of ffmpeg's list: more than a million packets with parameter sets. */
const MAX_LIST_CHARS = 2 ** 27;

/** The columns of the list: stream, times, size, and the hash. */
const HASH_COLUMN = 5;

/**
 * Whether the parameter sets of a track may change: the size of its frames, their colours, or the profile. Container and key frames can both
 * contain parameter sets. So ffmpeg leaves out everything else, and lists the packets. It decodes nothing. False also if ffmpeg fails: then the check of
 * the segments decides.
 */
export async function parameterSetsChange(
  {
    index,
    filters,
    mayBeInFrames,
  }: {
    index: number;
    /** The bitstream filters that leave only the parameter sets. */
    filters: string;
    /** Whether packets may have them at all. */
    mayBeInFrames: boolean;
  },
  options: {
    /** The confined ffmpeg. */
    program: string;
    /** The job's directory. */
    cwd: string;
    signal: AbortSignal;
    limits: Pick<TranscodeLimits, 'scanSeconds'>;
  },
): Promise<boolean> {
  const { program, cwd, signal, limits } = options;
  let first: string | undefined;
  let changes = false;
  try {
    await runTool(program, listArguments(index, filters), {
      cwd,
      signal,
      limitSeconds: limits.scanSeconds,
      limitOutput: MAX_LIST_CHARS,
      onLine: (line) => {
        const hash = line.startsWith('#') ? undefined : line.split(',')[HASH_COLUMN];
        if (hash === undefined) return;
        first ??= hash;
        changes ||= !mayBeInFrames || hash !== first;
      },
    });
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
  }
  return changes;
}

function listArguments(index: number, filters: string): string[] {
  return [
    ...['-nostdin', '-hide_banner', '-v', 'error', ...DECODE_OPTIONS, '-i', SOURCE_INPUT],
    ...['-map', `0:${index}`, '-c', 'copy'],
    ...['-bsf:v', filters],
    ...['-f', 'framehash', '-hash', 'md5', '-'],
  ];
}
