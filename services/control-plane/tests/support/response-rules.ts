import type { ReceivedResponse, ResponseCheck } from '@framelane/openapi-tools/response-check';
import type { RequestPlan } from './property/request-plans.ts';

/** Texts that an error response must never contain: stack traces, paths of the code, messages of the database. */
const INTERNALS =
  /\n\s+at |node:internal|node_modules|\.[jt]s:\d+|\b(insert into|update|delete from|select) "|syntax error at or near|violates \S+ constraint|invalid input syntax|invalid byte sequence|ECONN|kysely|pg_/;

/** The codes of errors that every path can respond with, by status. */
const GENERAL: Record<number, string> = {
  404: 'route_not_found',
  405: 'method_not_allowed',
  413: 'body_too_large',
  415: 'unsupported_media_type',
};

/** The violations of the contract in a response. */
export function violationsOf(plan: RequestPlan, response: ReceivedResponse, check: ResponseCheck): string[] {
  // Node itself refuses a URL of more than 16 KiB, which long texts of other scripts can have.
  if (response.status === 431 && response.body.length === 0) return [];
  const text = response.body.toString('utf8');
  return [
    // 501 says that a format is not supported, and is no failure.
    ...(response.status >= 500 && response.status !== 501 ? [`${response.status}: ${text}`] : []),
    ...(response.headers['x-request-id'] ? [] : ['no X-Request-Id']),
    ...(response.status >= 400 && INTERNALS.test(text) ? [`shows internals: ${text}`] : []),
    ...contractViolations({ path: plan.operation.path, method: plan.method }, response, check),
  ];
}

/** Where a response differs from what the contract describes for the operation and for all operations. */
export function contractViolations(
  { path, method }: { path: string; method: string },
  response: ReceivedResponse,
  check: ResponseCheck,
): string[] {
  if (method === 'head') {
    const known = check.isDocumented(path, 'get', response.status) || response.status in GENERAL;
    return known ? [] : [`head ${path} responds with ${response.status}`];
  }
  // The response to a preflight.
  if (method === 'options' && response.status === 204) return [];
  if (response.status in GENERAL && GENERAL[response.status] === codeOf(response))
    return check.problemViolations(response);
  if (!check.isDocumented(path, method, response.status)) {
    return [`${method} ${path} responds with ${response.status} ${codeOf(response)}`];
  }
  return check.violations(path, method, response);
}

function codeOf({ body }: ReceivedResponse): unknown {
  try {
    return JSON.parse(body.toString('utf8')).code;
  } catch {
    return undefined;
  }
}
