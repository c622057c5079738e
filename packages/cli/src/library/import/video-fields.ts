import { createHash } from 'node:crypto';
import type { UploadTicketRequest } from '@framelane/client';
import type { LibraryItem } from '../library-item.ts';

/** Entries of `metadata` that say where a video comes from. */
export const MARKS = {
  /** The id of the original, as long as a part of the import is missing. */
  importing: 'importing',
  /** The id of the original, and those of its own originals, separated by spaces. */
  importedFrom: 'importedFrom',
  /** When the original was created. The API sets `createdAt` itself. */
  createdAt: 'originalCreatedAt',
} as const;

/** The limits of the API; see docs/limits.md. */
const MAX_TITLE = 512;
const MAX_TAGS = 20;
const MAX_TAG = 64;
const MAX_ENTRIES = 50;
const MAX_KEY = 40;
const MAX_VALUE = 500;
const MAX_PASSTHROUGH = 255;
const MAX_FILENAME = 255;
/** Leaves room for the ids of earlier originals. */
const MAX_ID = 200;

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused by the API.
const CONTROL = /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;

export type VideoFields = Pick<UploadTicketRequest, 'title' | 'tags' | 'passthrough' | 'metadata'> & {
  filename: string;
} & NonNullable<LibraryItem['fields']>;

/** The fields of the new video, within the limits of the API, and what had to be changed for that. */
export function videoFields(item: LibraryItem): { fields: VideoFields; warnings: string[] } {
  const warnings: string[] = [];
  const title = shortened(plain(item.title ?? ''), MAX_TITLE, 'The title', warnings);
  const passthrough = shortened(whole(item.passthrough ?? ''), MAX_PASSTHROUGH, 'passthrough', warnings);
  const tags = tagsOf(item.tags ?? [], warnings);
  return {
    fields: {
      filename: filenameOf(item.filename),
      ...(title !== '' && { title }),
      ...(tags.length > 0 && { tags }),
      ...(passthrough !== '' && { passthrough }),
      metadata: metadataOf(item, warnings),
      ...item.fields,
    },
    warnings,
  };
}

/** The id in metadata: long ones are replaced by a hash, and spaces separate ids. */
export function storedId(id: string): string {
  if (id.length <= MAX_ID && /^[\x21-\x7E]+$/.test(id)) return id;
  const kind = /^[a-z0-9-]+:/.exec(id)?.[0] ?? '';
  return `${kind}sha256-${createHash('sha256').update(id).digest('hex')}`;
}

/** `importedFrom` of the new video: its original first, then the originals of that, as far as there is room. */
export function originsOf(item: Pick<LibraryItem, 'id' | 'metadata'>): string {
  const origins = [storedId(item.id), ...(item.metadata?.[MARKS.importedFrom] ?? '').split(' ')];
  let text = '';
  for (const origin of new Set(origins.filter(Boolean)))
    if (text.length + 1 + origin.length <= MAX_VALUE) text = text === '' ? origin : `${text} ${origin}`;
  return text;
}

function metadataOf(item: LibraryItem, warnings: string[]): Record<string, string> {
  const { importing, importedFrom, createdAt } = MARKS;
  const marks = {
    [importing]: storedId(item.id),
    ...(item.createdAt !== undefined && { [createdAt]: item.metadata?.[createdAt] ?? item.createdAt }),
  };
  const others = Object.entries(item.metadata ?? {}).filter(
    ([key, value]) => value && ![importing, importedFrom, createdAt].some((mark) => mark === key),
  );
  // `importing` becomes `importedFrom`, so no entry is added later.
  const room = MAX_ENTRIES - Object.keys(marks).length;
  if (others.length > room)
    warnings.push(`Only ${room} of ${others.length} entries of its metadata are kept.`);
  const kept = others.slice(0, room).map(([key, value = '']) => {
    const name = plain(key).slice(0, MAX_KEY);
    if (name !== key)
      warnings.push(`The entry "${key.slice(0, 100)}" of its metadata is now called "${name}".`);
    return [
      name,
      shortened(whole(value), MAX_VALUE, `The entry "${name}" of its metadata`, warnings),
    ] as const;
  });
  return { ...Object.fromEntries(kept.filter(([name]) => name !== '')), ...marks };
}

function tagsOf(given: readonly string[], warnings: string[]): string[] {
  const all = [...new Set(given.map((tag) => plain(tag)).filter(Boolean))];
  if (all.length > MAX_TAGS) warnings.push(`Only ${MAX_TAGS} of ${all.length} tags are kept.`);
  const kept = all.slice(0, MAX_TAGS);
  if (kept.some((tag) => tag.length > MAX_TAG)) warnings.push(`Tags are cut after ${MAX_TAG} characters.`);
  return [...new Set(kept.map((tag) => cut(tag, MAX_TAG)))];
}

/** A name with an extension, without separators. */
function filenameOf(given: string): string {
  const name = plain(given).replace(/[/\\]/g, '_');
  const extension = /\.[A-Za-z0-9]{1,20}$/.exec(name)?.[0] ?? '.mp4';
  const stem = name.endsWith(extension) ? name.slice(0, -extension.length) : name;
  return `${cut(stem || 'video', MAX_FILENAME - extension.length)}${extension}`;
}

/** Text on one line, without characters that the API refuses. */
function plain(text: string): string {
  return whole(text).replace(CONTROL, ' ').trim();
}

/** Without NUL and without halves of surrogate pairs. */
function whole(text: string): string {
  return text.replaceAll('\0', '').toWellFormed();
}

function shortened(text: string, max: number, what: string, warnings: string[]): string {
  if (text.length <= max) return text;
  warnings.push(`${what} is cut after ${max} characters.`);
  return cut(text, max);
}

/** Does not cut a surrogate pair. */
function cut(text: string, max: number): string {
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}
