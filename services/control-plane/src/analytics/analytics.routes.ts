import type { Request } from 'express';
import { credentialOf } from '../auth/authentication.ts';
import type { Handlers } from '../http/contract.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import { usagePeriod } from '../usage/usage-period.ts';
import type { AnalyticsService } from './analytics.service.ts';
import type { BeaconsService } from './beacons.service.ts';
import { countryOf, deviceOf, refusesCounting } from './viewer-facts.ts';

/** Query parameters, validated by the contract. */
type AnalyticsQuery = { from?: string; to?: string; environment?: 'live' | 'test'; groupBy?: 'day' };

export function analyticsRoutes(
  analytics: AnalyticsService,
  beacons: BeaconsService,
  { enabled, countryHeader }: { enabled: boolean; countryHeader: string | undefined },
) {
  return {
    getAnalytics: async (req, res) => {
      const credential = credentialOf(req);
      const { environment = credential.environment } = req.query as AnalyticsQuery;
      const subject = { workspaceId: credential.workspace_id, environment };
      const [period, options] = periodOf(req);
      const showsTitles = credential.permissions.includes('videos:read');
      res.json(await analytics.ofWorkspace(subject, period, { ...options, showsTitles }));
    },

    getVideoAnalytics: async (req, res) => {
      const video = { workspaceId: credentialOf(req).workspace_id, videoId: String(req.params.id) };
      res.json(await analytics.ofVideo(video, ...periodOf(req)));
    },

    sendBeacon: async (req, res) => {
      if (enabled && !refusesCounting(req.headers)) {
        const video = { workspaceId: String(req.params.tenant), videoId: String(req.params.video) };
        await beacons.count(video, req.body, {
          network: clientNetwork(req),
          userAgent: req.get('user-agent') ?? '',
          device: deviceOf(req.headers),
          country: countryOf(req.headers, countryHeader),
        });
      }
      res.status(202).end();
    },
  } satisfies Handlers;
}

function periodOf(req: Request) {
  const { from, to, groupBy } = req.query as AnalyticsQuery;
  const period = usagePeriod({ from: timeOf(from), to: timeOf(to) }, new Date());
  return [period, { byDay: groupBy === 'day' }] as const;
}

/** A date without a time means its start in UTC. */
function timeOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text);
}
