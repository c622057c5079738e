import type { Cluster } from './cluster.ts';
import { query } from './query.ts';

/** How each attempt at a video ended, the first one first; null for one that is open. */
export async function outcomesOf(cluster: Cluster, videoId: string): Promise<(string | null)[]> {
  const rows = await query<{ outcome: string | null }>(
    cluster,
    'select outcome from attempts where video_id = $1 order by number',
    [videoId],
  );
  return rows.map(({ outcome }) => outcome);
}
