import type { DownloadWork } from '@framelane/contracts/outputs/download';

/** What a file says about itself, and its duration in seconds. */
export type FileMetadata = Pick<DownloadWork, 'title' | 'chapters'> & { duration: number };

/**
 * A file in the format of ffmpeg's demuxer `ffmetadata`. Chapters that begin after the end are left out. Players of MP4 begin the first chapter at 0,
 * so a blank one precedes a first chapter that begins later.
 */
export function ffmetadata({ title, chapters, duration }: FileMetadata): string {
  const named = chapters.filter(({ start }) => start < duration);
  const shown = (named[0]?.start ?? 0) > 0 ? [{ start: 0, title: ' ' }, ...named] : named;
  const parts = shown.map(({ start, title: name }, at) => [
    '[CHAPTER]',
    'TIMEBASE=1/1000',
    `START=${milliseconds(start)}`,
    `END=${milliseconds(shown[at + 1]?.start ?? duration)}`,
    `title=${escaped(name)}`,
  ]);
  return [';FFMETADATA1', `title=${escaped(title)}`, ...parts.flat(), ''].join('\n');
}

function milliseconds(seconds: number): number {
  return Math.round(seconds * 1000);
}

/**
 * Characters with a meaning in this format have a backslash before them. A value that ends in a backslash gets a space, because ffmpeg takes `\\` at
 * the end of a line for an escaped end of line.
 */
function escaped(text: string): string {
  const value = text.endsWith('\\') ? `${text} ` : text;
  return value.replace(/[=;#\\\n]/g, '\\$&');
}
