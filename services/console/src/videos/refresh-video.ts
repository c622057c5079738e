import { useQueryClient } from '@tanstack/react-query';

/** Gets the record of a video again. The promise lasts until it has arrived. */
export function useRefreshVideo(id: string): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries({ queryKey: ['videos', 'one', id] });
}
