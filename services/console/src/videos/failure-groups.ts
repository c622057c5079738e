import type { Video } from '@framelane/client';

/** Videos that failed alike, or one video. */
export type Entry = Video | FailureGroup;

export type FailureGroup = {
  key: string;
  /** E.g. `20 imports from example.com`. */
  words: string;
  /** Why they failed. */
  message: string;
  /** In the order of the list. */
  videos: readonly Video[];
};

/** Fewer videos than this are easier to read as rows. */
const LEAST_VIDEOS = 3;

/**
 * The rows of a list. Imports from one host that failed for the same reason are one group at the place of the first, and so are uploads that
 * never arrived.
 */
export function withGroups(videos: readonly Video[]): Entry[] {
  const alike = new Map<string, Video[]>();
  for (const video of videos) {
    const key = keyOf(video);
    if (key !== undefined) alike.set(key, [...(alike.get(key) ?? []), video]);
  }
  return videos.flatMap((video): Entry[] => {
    const key = keyOf(video);
    const group = key === undefined ? undefined : alike.get(key);
    if (key === undefined || group === undefined || group.length < LEAST_VIDEOS) return [video];
    return group[0] === video ? [groupOf(key, video, group)] : [];
  });
}

export function isGroup(entry: Entry): entry is FailureGroup {
  return 'videos' in entry;
}

/** What videos have in common that failed alike; undefined for a video that stays a row of its own. */
function keyOf({ error, import: imported }: Video): string | undefined {
  if (error === null) return undefined;
  if (imported !== null) return `${error.code} ${hostOf(imported.url)}`;
  return error.code === 'upload_expired' ? error.code : undefined;
}

function groupOf(key: string, { error, import: imported }: Video, videos: readonly Video[]): FailureGroup {
  const from = imported === null ? 'uploads' : `imports from ${hostOf(imported.url)}`;
  return { key, words: `${videos.length} ${from}`, message: error?.message ?? '', videos };
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? url;
}
