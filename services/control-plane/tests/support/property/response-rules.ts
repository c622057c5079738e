import type { Answer, AnswerCheck } from '@framelane/openapi/answer-check';
import type { RequestPlan } from './request-plans.ts';

/** What a response must never contain: stack traces, paths of the code, messages of the database. */
const INTERNALS =
  /\n\s+at |node:internal|node_modules|\.[jt]s:\d+|\b(insert into|update|delete from|select) "|syntax error at or near|violates \S+ constraint|invalid input syntax|invalid byte sequence|ECONN|kysely|pg_/;

/** Errors that every path can respond with, and their codes; the last two are for any body. */
const GENERAL: Record<number, string> = {
  404: 'route_not_found',
  405: 'method_not_allowed',
  413: 'body_too_large',
  415: 'unsupported_media_type',
};

/** The violations of the contract in a response. */
export function complaintsAbout(plan: RequestPlan, answer: Answer, check: AnswerCheck): string[] {
  const text = answer.body.toString('utf8');
  return [
    ...(answer.status >= 500 ? [`${answer.status}: ${text}`] : []),
    ...(answer.headers['x-request-id'] ? [] : ['no X-Request-Id']),
    ...(answer.status >= 400 && INTERNALS.test(text) ? [`shows internals: ${text}`] : []),
    ...contractComplaints(plan, answer, check),
  ];
}

function contractComplaints(
  { operation, method }: RequestPlan,
  answer: Answer,
  check: AnswerCheck,
): string[] {
  const { path } = operation;
  if (method === 'head') {
    const known = check.isDocumented(path, 'get', answer.status) || answer.status in GENERAL;
    return known ? [] : [`head ${path} is answered with ${answer.status}`];
  }
  // The response to a preflight.
  if (method === 'options' && answer.status === 204) return [];
  if (answer.status in GENERAL && GENERAL[answer.status] === codeOf(answer))
    return check.problemComplaints(answer);
  if (!check.isDocumented(path, method, answer.status)) {
    return [`${method} ${path} is answered with ${answer.status} ${codeOf(answer)}`];
  }
  return check.complaints(path, method, answer);
}

function codeOf({ body }: Answer): unknown {
  try {
    return JSON.parse(body.toString('utf8')).code;
  } catch {
    return undefined;
  }
}
