import type { operations } from '@framelane/openapi/types';

/** Which requests of a workspace to show; undefined for all. */
export type RequestFilter = {
  /** The first digit of the status. */
  statusClass?: number | undefined;
  method?: string | undefined;
  pathPrefix?: string | undefined;
  keyId?: string | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
};

type Query = operations['listRequests']['parameters']['query'] & {};

/** Reads the validated query of a request. */
export function readRequestFilter(given: object): RequestFilter {
  const query = given as Query;
  return {
    statusClass: query.status === undefined ? undefined : Number(query.status[0]),
    method: query.method,
    pathPrefix: query.path,
    keyId: query.keyId,
    code: query.code,
    requestId: query.requestId,
    createdAfter: query.createdAfter === undefined ? undefined : new Date(query.createdAfter),
    createdBefore: query.createdBefore === undefined ? undefined : new Date(query.createdBefore),
  };
}
