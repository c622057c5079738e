import type { components } from '@framelane/openapi/types';
import { Problem } from '@framelane/service-kit/problem';
import type { Database } from '../db/database.ts';
import { type Page, type PageRequest, toPage } from '../db/keyset-page.ts';
import type { RequestFilter } from './request-filter.ts';
import {
  findRequest,
  groupErrors,
  keepRequestDays,
  type ListedRequest,
  listRequests,
} from './request-log.store.ts';

type LoggedRequest = components['schemas']['LoggedRequest'];
type RequestError = components['schemas']['RequestError'];

const GROUPS = 100;

/** Shows and deletes the requests that `RequestRecorder` has stored. */
export class RequestLogService {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** One page of the workspace's requests, newest first. */
  async list(workspaceId: string, filter: RequestFilter, page: PageRequest): Promise<Page<LoggedRequest>> {
    const rows = await listRequests(this.#db, workspaceId, filter, page);
    return toPage(rows, page.limit, toLoggedRequest);
  }

  /** A request with its headers and bodies. Throws 404 `request_not_found`. */
  async get(workspaceId: string, id: string): Promise<components['schemas']['LoggedRequestDetails']> {
    const row = await findRequest(this.#db, workspaceId, id);
    if (row === undefined) throw new Problem('request_not_found', `There is no request ${id} in the log.`);
    return {
      ...toLoggedRequest(row),
      query: row.query as Record<string, unknown>,
      requestHeaders: row.request_headers,
      requestBody: row.request_body,
      responseHeaders: row.response_headers,
      responseBody: row.response_body,
    };
  }

  /** The failed requests, grouped by problem and operation. */
  async errors(workspaceId: string, filter: RequestFilter): Promise<RequestError[]> {
    const groups = await groupErrors(this.#db, workspaceId, filter, GROUPS);
    return groups.map((group) => ({
      code: group.problem_code,
      status: group.status,
      method: group.method as RequestError['method'],
      route: group.route,
      count: group.count,
      firstAt: group.first_at.toISOString(),
      lastAt: group.last_at.toISOString(),
      lastId: group.last_id,
      daily: Object.entries(group.days)
        .map(([day, count]) => ({ day, count }))
        .toSorted((a, b) => a.day.localeCompare(b.day)),
    }));
  }

  /** Prepares the next days, and deletes the requests whose time is over. */
  keepDays(): Promise<void> {
    return keepRequestDays(this.#db);
  }
}

function toLoggedRequest(row: ListedRequest): LoggedRequest {
  return {
    id: row.id,
    createdAt: row.created_at.toISOString(),
    requestId: row.request_id,
    method: row.method as LoggedRequest['method'],
    route: row.route,
    path: row.path,
    status: row.status,
    code: row.problem_code,
    durationMs: row.duration_ms,
    apiKey: { id: row.key_id, last4: row.key_last4 },
  };
}
