import type { Request, Response } from 'express';
import { type Attributes, inSpan, type Tracing } from './tracing.ts';

type RequestOptions = {
  /** The template of the path, such as `/v1/videos/{id}`. The path itself is no attribute: it may contain a secret. */
  route: string;
  parent?: string | undefined;
  link?: string | undefined;
  attributes?: Attributes;
};

/** Runs work in the span of a request, which ends with its response. Without tracing, it just runs the work. */
export function traceRequest<T>(
  tracing: Tracing | undefined,
  req: Request,
  res: Response,
  { route, parent, link, attributes }: RequestOptions,
  work: () => T,
): T {
  if (tracing === undefined) return work();
  const span = tracing.start(`${req.method} ${route}`, {
    kind: 'server',
    parent,
    link,
    attributes: {
      'http.request.method': req.method,
      'http.route': route,
      'url.scheme': req.protocol,
      'framelane.request.id': req.id,
      ...attributes,
    },
  });
  res.once('close', () => {
    if (!res.headersSent) span.fail('aborted');
    else {
      span.set({ 'http.response.status_code': res.statusCode });
      if (res.statusCode >= 500) span.fail(res.locals.problemCode ?? String(res.statusCode));
    }
    span.end();
  });
  return inSpan(tracing, span, work);
}
