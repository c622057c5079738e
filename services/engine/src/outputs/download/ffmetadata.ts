import type { DownloadWork } from '@framelane/contracts/outputs/download';

/** What a file says about itself, and its duration in seconds. */
export type FileMetadata = Pick<DownloadWork, 'title' | 'chapters'> & { duration: number };

/** A file in the format of ffmpeg's demuxer `ffmetadata`. Chapters that begin after the end are left out. */
export function ffmetadata({ title, chapters, duration }: FileMetadata): string {
  const shown = chapters.filter(({ start }) => start < duration);
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

/** Characters with a meaning in this format have a backslash before them. */
function escaped(text: string): string {
  return text.replace(/[=;#\\\n]/g, '\\$&');
}
