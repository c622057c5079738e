/** What a file says about itself. */
export type FileMetadata = { title: string };

/** A file in the format of ffmpeg's demuxer `ffmetadata`. */
export function ffmetadata({ title }: FileMetadata): string {
  return [';FFMETADATA1', `title=${escaped(title)}`, ''].join('\n');
}

/** Characters with a meaning in this format have a backslash before them. */
function escaped(text: string): string {
  return text.replace(/[=;#\\\n]/g, '\\$&');
}
