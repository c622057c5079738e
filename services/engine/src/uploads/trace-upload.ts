import { traceRequest } from '@framelane/service-kit/trace-request';
import type { Tracing } from '@framelane/service-kit/tracing';
import type { Request } from 'express';

/**
 * Runs work on an upload in the span of its request, as a part of the trace in which its video was created. Who uploads may be a stranger: the trace
 * that their request names is only linked, and does not decide whether spans are exported. Without a trace of the video, there is no span.
 */
export function traceUpload<T>(
  tracing: Tracing | undefined,
  req: Request,
  { videoId, traceparent }: { videoId: string; traceparent?: string | undefined },
  work: () => T,
): T {
  if (tracing === undefined || traceparent === undefined || req.res === undefined) return work();
  const options = {
    route: `${req.baseUrl}${req.route?.path ?? ''}`,
    parent: traceparent,
    link: req.get('traceparent'),
    attributes: { 'framelane.video.id': videoId },
  };
  return traceRequest(tracing, req, req.res, options, work);
}
