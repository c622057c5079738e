import { FramelaneError, type Schemas, type Video } from '@framelane/client';
import { linesOf } from '../ui/lines.ts';
import { TEXT_FIELD_NAMES, TEXT_FIELDS, type TextField, valueOfEach } from './text-fields.ts';

/** What the form changes. The frame of the poster is chosen on the player. */
type FormPatch = Omit<Schemas['VideoPatch'], 'posterTime'>;

/** The values of the form. */
export type EditValues = Record<TextField, string> & {
  title: string;
  tags: string[];
  metadata: { name: string; value: string }[];
  playbackPolicy: Schemas['PlaybackPolicy'];
  /** The sites that may show the player: those of the installation, or a list with one origin a line. */
  sites: 'installation' | 'list';
  origins: string;
  keep: 'always' | 'never' | 'days';
  days: string;
};

export type EditField = keyof EditValues;

/** The form of a video as it is stored. */
export function editValues(video: Video): EditValues {
  const { title, tags, metadata, playbackPolicy, allowedOrigins, keepSource } = video;
  return {
    title,
    tags,
    metadata: Object.entries(metadata).map(([name, value]) => ({ name, value })),
    ...valueOfEach(TEXT_FIELD_NAMES, (name) => video[name] ?? ''),
    playbackPolicy,
    sites: allowedOrigins === null ? 'installation' : 'list',
    origins: (allowedOrigins ?? []).join('\n'),
    keep: typeof keepSource === 'number' ? 'days' : keepSource,
    days: typeof keepSource === 'number' ? String(keepSource) : '30',
  };
}

/** The request for the fields that differ between two states of the form. It contains no others, so that it does not undo other changes. */
export function patchOf(before: EditValues, after: EditValues): FormPatch {
  const [old, next] = [toPatch(before), toPatch(after)];
  const { metadata: _, ...changed } = pick(next, changedFields(old, next));
  const metadata = metadataPatch(old.metadata, next.metadata);
  return { ...changed, ...(metadata && { metadata }) };
}

/** The names of the fields, except metadata, that `now` and `mine` both change from `before`, to different values. */
export function changedElsewhere(before: Video, now: Video, mine: FormPatch): string[] {
  const [old, other] = [toPatch(editValues(before)), toPatch(editValues(now))];
  return changedFields(old, other)
    .filter((field) => field in mine && field !== 'metadata' && !isSame(mine[field], other[field]))
    .map((field) => LABELS[field]);
}

const LABELS: Record<keyof FormPatch, string> = {
  title: 'title',
  tags: 'tags',
  metadata: 'metadata',
  ...valueOfEach(TEXT_FIELD_NAMES, (name) => withinSentence(TEXT_FIELDS[name])),
  playbackPolicy: 'playback policy',
  allowedOrigins: 'sites',
  keepSource: 'time for which the file is kept',
};

function withinSentence(label: string): string {
  return label.charAt(0).toLowerCase() + label.slice(1);
}

/** A whole patch with the values of a form. */
type WholePatch = Required<Omit<FormPatch, 'metadata'>> & { metadata: Record<string, string> };

function toPatch(values: EditValues): WholePatch {
  const { title, tags, metadata, playbackPolicy, sites, origins, keep, days } = values;
  const filled = metadata.filter(({ name, value }) => name !== '' || value !== '');
  return {
    title,
    tags,
    metadata: Object.fromEntries(filled.map(({ name, value }) => [name, value])),
    ...valueOfEach(TEXT_FIELD_NAMES, (name) => (values[name] === '' ? null : values[name])),
    playbackPolicy,
    allowedOrigins: sites === 'installation' ? null : linesOf(origins),
    keepSource: keep === 'days' ? Number(days) : keep,
  };
}

function changedFields(old: WholePatch, next: WholePatch): (keyof WholePatch)[] {
  return (Object.keys(next) as (keyof WholePatch)[]).filter((field) => !isSame(old[field], next[field]));
}

function pick(patch: WholePatch, fields: readonly (keyof WholePatch)[]): Partial<WholePatch> {
  return Object.fromEntries(fields.map((field) => [field, patch[field]]));
}

/** Entries that were added, changed or, as `null`, removed; undefined without any. */
function metadataPatch(
  old: Record<string, string>,
  next: Record<string, string>,
): Record<string, string | null> | undefined {
  const removed = Object.keys(old).filter((name) => !Object.hasOwn(next, name));
  const changed = Object.entries(next).filter(([name, value]) => old[name] !== value);
  if (removed.length + changed.length === 0) return undefined;
  return Object.fromEntries([...removed.map((name) => [name, null] as const), ...changed]);
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Errors that are found before the form is sent: only those that the API cannot report. */
export function checkValues({ metadata }: EditValues): Partial<Record<EditField, string>> {
  const names = metadata.map(({ name }) => name).filter((name) => name !== '');
  const repeated = names.find((name, at) => names.indexOf(name) !== at);
  if (repeated !== undefined) return { metadata: `The name “${repeated}” is there twice.` };
  const isNameless = metadata.some(({ name, value }) => name === '' && value !== '');
  return isNameless ? { metadata: 'An entry has no name.' } : {};
}

const FIELDS: Readonly<Record<string, EditField>> = {
  title: 'title',
  tags: 'tags',
  metadata: 'metadata',
  ...valueOfEach(TEXT_FIELD_NAMES, (name) => name),
  playbackPolicy: 'playbackPolicy',
  allowedOrigins: 'origins',
  keepSource: 'days',
};

/** The errors of a response at the fields of the form. `isComplete` if each error is at a field. */
export function fieldErrors(
  error: unknown,
  sent: FormPatch,
): { errors: Partial<Record<EditField, string>>; isComplete: boolean } {
  const problems = error instanceof FramelaneError ? (error.problem?.errors ?? []) : [];
  const errors: Partial<Record<EditField, string>> = {};
  for (const { field: path, message } of problems) {
    const [, name = '', entry] = path.split('/');
    const field = FIELDS[name];
    if (field === undefined) continue;
    const value = entry === undefined ? undefined : entryOf(sent[name as keyof typeof sent], entry);
    errors[field] = value === undefined ? `This ${message}.` : `“${value}” ${message}.`;
  }
  return {
    errors,
    isComplete: problems.length > 0 && problems.every(({ field }) => (field.split('/')[1] ?? '') in FIELDS),
  };
}

/** The entry of a list that an error is about, or its name in metadata, which is escaped as in a JSON pointer (RFC 6901 §3). */
function entryOf(value: unknown, entry: string): string {
  return Array.isArray(value)
    ? String(value[Number(entry)])
    : entry.replaceAll('~1', '/').replaceAll('~0', '~');
}
