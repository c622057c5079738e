import type { Cluster } from './cluster.ts';

/** The outcomes of all attempts at a video, in order; null for an open attempt. */
export async function outcomesOf(cluster: Cluster, videoId: string): Promise<(string | null)[]> {
  const rows = await cluster.postgres.query<{ outcome: string | null }>(
    'select outcome from attempts where video_id = $1 order by number',
    [videoId],
  );
  return rows.map(({ outcome }) => outcome);
}
