import type { Schemas, Video } from '@framelane/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api } from '../api/api.ts';

/** Changes a video. A new title and new tags are shown before the response, and are reverted if the request fails. */
export function useUpdateVideo(id: string) {
  const queries = useQueryClient();
  const queryKey = ['videos', 'one', id];
  const show = (fields: Pick<Schemas['VideoPatch'], 'title' | 'tags'>) => {
    const { title, tags } = fields;
    queries.setQueryData<Video>(queryKey, (video) =>
      video === undefined
        ? undefined
        : {
            ...video,
            ...(title !== undefined && { title }),
            ...(tags !== undefined && { tags: tags ?? [] }),
          },
    );
  };
  return useMutation({
    mutationFn: (patch: Schemas['VideoPatch']) => api.videos.update(id, patch),
    onMutate: async (patch) => {
      await queries.cancelQueries({ queryKey });
      const before = queries.getQueryData<Video>(queryKey);
      show(patch);
      return before;
    },
    onError: (_error, { title, tags }, before) => {
      // Only the shown fields are reverted: somebody else may have changed the others.
      if (before !== undefined) {
        show({
          ...(title !== undefined && { title: before.title }),
          ...(tags !== undefined && { tags: before.tags }),
        });
      }
      void queries.invalidateQueries({ queryKey });
    },
    onSuccess: (video) => {
      queries.setQueryData(queryKey, video);
      void queries.invalidateQueries({ queryKey: ['videos'] });
    },
  });
}
