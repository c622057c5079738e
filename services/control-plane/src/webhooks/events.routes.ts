import type { operations } from '@framelane/openapi/types';
import { invalidField } from '@framelane/service-kit/problem';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { nextLink } from '../http/pagination.ts';
import type { WithDefaults } from '../http/request-validation.ts';
import type { EventListService } from './event-list.service.ts';

type Query = WithDefaults<operations['listEvents']['parameters']['query'] & {}, 'limit' | 'from'>;

export function eventRoutes(events: EventListService, { publicUrl }: { publicUrl: string }) {
  return {
    listEvents: async (req, res) => {
      const { limit, cursor, from, since } = req.query as unknown as Query;
      // The validator lets Infinity pass as an integer: it does not compare it with the maximum.
      if (!Number.isFinite(limit)) throw invalidField('query/limit', 'type', 'must be an integer');
      const page = await events.list(credentialOf(req).workspace_id, {
        ...{ limit, cursor, from },
        since: since === undefined ? undefined : new Date(since),
      });
      if (page.hasMore) res.set('Link', nextLink(publicUrl, req.originalUrl, page.nextCursor));
      res.json(page);
    },
  } satisfies Handlers;
}
