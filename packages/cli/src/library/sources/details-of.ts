import { CliError } from '../../cli-error.ts';
import { TransferError } from '../http/transfer-error.ts';
import type { CaptionsFile, Chapters, Details } from '../library-item.ts';

/** Captions that a service lists, and how to get their text. */
export type ListedCaptions = Omit<CaptionsFile, 'text'> & { getText: () => Promise<string> };

/**
 * Gets captions, chapters and poster one after another. A file that is not there, or cannot be read, is a warning; a temporary error is
 * thrown, so that the next run gets the file.
 */
export async function detailsOf({
  captions,
  chapters,
  poster,
}: {
  captions: readonly ListedCaptions[];
  chapters?: (() => Promise<Chapters>) | undefined;
  poster?: (() => Promise<Uint8Array>) | undefined;
}): Promise<Details> {
  const warnings: string[] = [];
  const found: CaptionsFile[] = [];
  for (const { getText, ...entry } of distinctLanguages(captions)) {
    const text = await unlessMissing(`The captions ${entry.language}`, getText, warnings);
    if (text !== undefined) found.push({ ...entry, text });
  }
  const readChapters = chapters && (await unlessMissing('The chapters', chapters, warnings));
  const image = poster && (await unlessMissing('The poster', poster, warnings));
  return { captions: found, chapters: readChapters, poster: image, warnings };
}

async function unlessMissing<T>(
  what: string,
  get: () => Promise<T>,
  warnings: string[],
): Promise<T | undefined> {
  try {
    return await get();
  } catch (error) {
    if (!(error instanceof CliError) || (error instanceof TransferError && error.temporary)) throw error;
    warnings.push(`${what} could not be read: ${error.message}`);
    return undefined;
  }
}

/** Framelane has one file for a language: a second one gets a private subtag, such as `en-x-2`. */
function distinctLanguages<Entry extends { language: string }>(entries: readonly Entry[]): Entry[] {
  const counts = new Map<string, number>();
  return entries.map((entry) => {
    const count = (counts.get(entry.language.toLowerCase()) ?? 0) + 1;
    counts.set(entry.language.toLowerCase(), count);
    return count === 1 ? entry : { ...entry, language: `${entry.language}-x-${count}` };
  });
}
