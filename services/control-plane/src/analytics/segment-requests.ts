import type { Request, RequestHandler } from 'express';
import type { Metrics } from '../metrics/metrics.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import { COUNTED_NETWORKS, WINDOW_SECONDS, WindowCounter } from '../rate-limits/window-counter.ts';
import { type ClientData, clientDataOfUrl, readClientData } from './cmcd.ts';
import type { RequestedSegment } from './segment-times.ts';
import type { ViewMeter } from './view-meter.ts';
import { sessionIdOf } from './view-report.ts';
import { countryOf, deviceOf, refusesCounting } from './viewer-facts.ts';
import type { Visitors } from './visitors.ts';

/** The path of a segment below `/v1/hls`. */
const SEGMENT = /^\/(\w+)\/(\w+)\/([\w-]+)\/(\d{1,9})\.(?:ts|m4s)$/;

type Deps = {
  meter: ViewMeter;
  visitors: Visitors;
  metrics: Metrics;
  settings: { enabled: boolean; countryHeader: string | undefined; beaconsPerMinute: number };
};

/** Counts the requests for segments that say which playback they belong to, in Common Media Client Data (CTA-5004). */
export class SegmentRequests {
  readonly #deps: Deps;
  /** The reports of each network that are not united with one that waits. */
  readonly #reported = new WindowCounter({ seconds: WINDOW_SECONDS, names: COUNTED_NETWORKS });

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Counts a request below `/v1/hls` when its response has been sent. */
  readonly count: RequestHandler = (req, res, next) => {
    const text = this.#deps.settings.enabled ? clientDataOf(req) : undefined;
    const path = text === undefined ? null : SEGMENT.exec(req.path);
    if (text !== undefined && path !== null && !refusesCounting(req.headers)) {
      const [, workspaceId = '', videoId = '', rendition = '', sequence] = path;
      res.once('finish', () => {
        const data = res.statusCode < 400 ? readClientData(text) : undefined;
        if (data === undefined) return;
        this.#add(req, data, { workspaceId, videoId }, { rendition, sequence: Number(sequence) });
      });
    }
    next();
  };

  #add(
    req: Request,
    { session, starved }: ClientData,
    video: { workspaceId: string; videoId: string },
    segment: Omit<RequestedSegment, 'starved'>,
  ): void {
    const { meter, visitors, metrics, settings } = this.#deps;
    const playback = { ...video, sessionId: sessionIdOf(session) };
    const requested = { ...segment, starved };
    // Most requests belong to a playback that waits already, and need no hash.
    if (meter.addSegment(playback, requested)) return;
    const network = clientNetwork(req);
    if (this.#exceedsLimit(network)) {
      metrics.viewReported('dropped');
      return;
    }
    const userAgent = req.get('user-agent') ?? '';
    const report = {
      ...playback,
      device: deviceOf(req.headers),
      country: countryOf(req.headers, settings.countryHeader),
      watched: [],
      segments: [requested],
      watchMs: null,
      startupMs: null,
      stalls: 0,
      stallMs: 0,
      error: null,
    };
    visitors.today({ workspaceId: video.workspaceId, network, userAgent }).then(
      ({ day, hash }) => meter.add({ ...report, day, visitor: hash }),
      // Without a database. A line for each request would fill the log.
      () => metrics.viewReported('dropped'),
    );
  }

  /** Whether a network has begun so many reports that another counts for nothing. Its requests are answered all the same. */
  #exceedsLimit(network: string): boolean {
    const { beaconsPerMinute } = this.#deps.settings;
    return beaconsPerMinute > 0 && this.#reported.add(network).count > beaconsPerMinute;
  }
}

/** The client data in the query or the headers of a request; undefined if it has none. */
function clientDataOf(req: Request): string | undefined {
  if (req.url.includes('CMCD=')) return clientDataOfUrl(req.url);
  const session = req.headers['cmcd-session'];
  if (typeof session !== 'string') return undefined;
  return `${session},${req.headers['cmcd-status'] ?? ''}`;
}
