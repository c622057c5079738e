import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import type { UsageService } from './usage.service.ts';
import { usagePeriod } from './usage-period.ts';

/** Query parameters, validated by the contract. */
type UsageQuery = { from?: string; to?: string; environment?: 'live' | 'test'; groupBy?: 'day' };

export function usageRoutes(usage: UsageService) {
  return {
    getUsage: async (req, res) => {
      const credential = credentialOf(req);
      const query = req.query as UsageQuery;
      const period = usagePeriod({ from: timeOf(query.from), to: timeOf(query.to) }, new Date());
      const environment = query.environment ?? credential.environment;
      const byDay = query.groupBy === 'day';
      res.json(await usage.report(credential.workspace_id, environment, period, { byDay }));
    },
  } satisfies Handlers;
}

/** A date without a time means its start in UTC. */
function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
