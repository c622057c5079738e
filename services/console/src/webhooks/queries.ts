import { type Schemas, unwrap } from '@framelane/client';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api } from '../api/api.ts';
import { pollInterval } from '../api/live.ts';
import { isSoonDue } from './webhook-words.ts';

/** The webhooks of the workspace, which are polled. There are at most 20, so one page has them all. */
export function useWebhooks(enabled = true) {
  return useQuery({
    queryKey: ['webhooks', 'list'],
    queryFn: ({ signal }) => unwrap(api.GET('/webhooks', { params: { query: { limit: 20 } }, signal })),
    enabled,
    refetchInterval: pollInterval(false),
  });
}

/** One webhook. It is loaded again when its deliveries change. */
export function useWebhook(id: string) {
  return useQuery({
    queryKey: ['webhooks', 'one', id],
    queryFn: ({ signal }) => api.webhooks.get(id, { signal }),
    refetchInterval: pollInterval(false),
  });
}

export type DeliveryStatus = Schemas['WebhookDelivery']['status'];

/** The deliveries of a webhook, newest first. With `status`, only those. They are polled while only the first page is shown. */
export function useDeliveries(id: string, status: DeliveryStatus | undefined) {
  return useInfiniteQuery({
    queryKey: ['webhooks', 'deliveries', id, status],
    queryFn: ({ pageParam, signal }) =>
      unwrap(
        api.GET('/webhooks/{id}/deliveries', {
          params: {
            path: { id },
            query: { limit: 10, ...(status && { status }), ...(pageParam && { cursor: pageParam }) },
          },
          signal,
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
    placeholderData: keepPreviousData,
    // Each poll would load all pages again.
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages ?? [];
      return pages.length > 1 ? false : pollInterval(isSoonDue(pages[0]?.data ?? [], Date.now()));
    },
  });
}

/** A delivery with its request and responses. It is loaded again when the number of attempts changes. */
export function useDeliveryDetails(webhookId: string, deliveryId: string, attempts: number) {
  return useQuery({
    queryKey: ['webhooks', 'delivery', deliveryId, attempts],
    queryFn: ({ signal }) => api.webhooks.getDelivery(webhookId, deliveryId, { signal }),
  });
}
