import { traceRequest } from '@framelane/service-kit/trace-request';
import type { Tracing } from '@framelane/service-kit/tracing';
import type { RequestHandler } from 'express';
import { routeOf } from './request-validation.ts';

/**
 * Traces the requests of clients with a credential. They continue the trace of their client, whose sampling applies. Requests that only read begin
 * none: pages poll, and there is nothing else in such a trace. Strangers begin no traces, and playback has none: it would outnumber everything else.
 */
export function traceOperations(tracing: Tracing | undefined): RequestHandler[] {
  if (tracing === undefined) return [];
  return [
    (req, res, next) => {
      const { credential } = req;
      const parent = req.get('traceparent');
      const isRead = req.method === 'GET' || req.method === 'HEAD';
      if (credential === undefined || (isRead && parent === undefined)) return next();
      const options = {
        route: routeOf(req) ?? 'unmatched',
        parent,
        attributes: { 'framelane.workspace.id': credential.workspace_id },
      };
      traceRequest(tracing, req, res, options, next);
    },
  ];
}

/** Continues the traces of engines. Their requests outside of traces have no span. */
export function traceInternalRequests(tracing: Tracing | undefined): RequestHandler[] {
  if (tracing === undefined) return [];
  return [
    (req, res, next) => {
      const parent = req.get('traceparent');
      if (parent === undefined) return next();
      // The paths of the internal API contain no ids.
      traceRequest(tracing, req, res, { route: req.path, parent }, next);
    },
  ];
}
