import type { Video } from '@framelane/client';

/** How the preparation of a video ended. */
export type Happening = { video: Video; what: 'ready' | 'failed'; at: string };

/** How many videos were uploaded, became ready and failed. */
export type Counts = Record<Happening['what'] | 'uploaded', number>;

export type Happenings = {
  /** The latest first. */
  list: readonly Happening[];
  counts: Counts;
};

/** What happened to videos after a time, a Unix time in milliseconds. */
export function happeningsAfter(videos: readonly Video[], time: number): Happenings {
  const isAfter = (at: string | null): at is string => at !== null && Date.parse(at) > time;
  const list = videos.flatMap((video): Happening[] => {
    const { status, readyAt, updatedAt } = video;
    // A record has no time of its failure. Only a later change of its texts moves this one.
    if (status === 'failed') return isAfter(updatedAt) ? [{ video, what: 'failed', at: updatedAt }] : [];
    return isAfter(readyAt) ? [{ video, what: 'ready', at: readyAt }] : [];
  });
  const count = (what: Happening['what']) => list.filter((each) => each.what === what).length;
  return {
    list: list.toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at)),
    counts: {
      uploaded: videos.filter(({ uploadedAt }) => isAfter(uploadedAt)).length,
      ready: count('ready'),
      failed: count('failed'),
    },
  };
}

/** The counts in words, without those that are zero. With `isPart`, there can be more videos than were counted. */
export function countWords({ uploaded, ready, failed }: Counts, isPart: boolean): string[] {
  const counts = [
    [uploaded, 'uploaded'],
    [ready, 'ready'],
    [failed, 'failed'],
  ] as const;
  return counts.flatMap(([number, word]) => (number === 0 ? [] : `${number}${isPart ? '+' : ''} ${word}`));
}
