import { runTool, ToolError } from '../sandbox/run-tool.ts';
import type { Cover, Size } from './media-source.ts';
import { isCoverCodec, MAX_PIXELS, MAX_SIDE } from './whitelist.ts';

type DecodeOptions = {
  /** The confined ffprobe. */
  program: string;
  cwd: string;
  signal: AbortSignal;
  limitSeconds: number;
  /** The options of ffprobe that limit what it reads, with its input. */
  formats: readonly string[];
};

/** Maximum number of characters of ffprobe's description of a picture. */
const MAX_PICTURE_CHARS = 1024;

/**
 * Decodes a cover picture. Resolves with its size in pixels; null if it has another codec, is too large or is damaged. The size that the file
 * declares is not reliable.
 */
export async function decodedSize(
  { index, codec }: Pick<Cover, 'index' | 'codec'>,
  options: DecodeOptions,
): Promise<Size | null> {
  if (!isCoverCodec(codec)) return null;
  try {
    return await decodePicture(index, options);
  } catch (error) {
    // The poster is then a waveform.
    if (error instanceof ToolError) return null;
    throw error;
  }
}

/** Decodes the first picture of a track. Resolves with its size in pixels; null if it has none or is too large. Throws a ToolError. */
export async function decodePicture(
  index: number,
  { program, cwd, signal, limitSeconds, formats }: DecodeOptions,
): Promise<Size | null> {
  const picture = ['-select_streams', String(index), '-read_intervals', '%+#1'];
  const entries = ['-show_entries', 'frame=width,height', '-of', 'csv=p=0'];
  let size: Size | null = null;
  await runTool(program, ['-v', 'error', ...picture, ...entries, ...formats], {
    cwd,
    signal,
    limitSeconds,
    limitOutput: MAX_PICTURE_CHARS,
    onLine: (line) => {
      const [width = 0, height = 0] = line.split(',').map(Number);
      if (isDrawable(width, height)) size ??= { width, height };
    },
  });
  return size;
}

function isDrawable(width: number, height: number): boolean {
  return width > 0 && height > 0 && Math.max(width, height) <= MAX_SIDE && width * height <= MAX_PIXELS;
}
