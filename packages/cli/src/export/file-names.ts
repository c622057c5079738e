/** Characters that some file system refuses, or that a terminal would act on. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced.
const UNSAFE = /[\u0000-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069/\\:*?"<>|]/g;
/** File systems count bytes; this leaves room for the id. */
const MAX_TITLE_BYTES = 160;

/** The name of a video's folder: `<title>-<id>`, which is a safe file name whatever the title is. */
export function folderName({ title, id }: { title: string; id: string }): string {
  const safe = title
    .toWellFormed()
    .replace(UNSAFE, '_')
    .replace(/^[\s.]+/, '')
    .trim();
  let end = safe.length;
  while (Buffer.byteLength(safe.slice(0, end)) > MAX_TITLE_BYTES) end -= 1;
  // Not in the middle of a surrogate pair.
  const name = safe
    .slice(0, end)
    .replace(/[\uD800-\uDBFF]$/, '')
    .trimEnd();
  return `${name || 'video'}-${id}`;
}

/** The name of the uploaded file: `source` with the extension that it had. */
export function sourceName(filename: string): string {
  return `source${/\.[A-Za-z0-9]{1,10}$/.exec(filename)?.[0].toLowerCase() ?? ''}`;
}

/** The name of a rendition's file. */
export function renditionName(file: string): string {
  return file === 'audio' ? 'audio.m4a' : `${file}.mp4`;
}

/** The id of the video in the name of its folder; undefined if the folder is none of an export. */
export function idInFolderName(name: string): string | undefined {
  return /-(vid_[0-9a-z]{26})$/.exec(name)?.[1];
}
