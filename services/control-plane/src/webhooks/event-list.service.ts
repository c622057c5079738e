import { invalidField } from '@framelane/service-kit/problem';
import { z } from 'zod';
import type { Database } from '../db/database.ts';
import { findEventsAfter, findLastPosition } from './event-list.store.ts';

/** Where a list begins: after a cursor; or else with the next event, with those since a time, or with the oldest. */
type Start = { cursor: string | undefined; from: 'oldest' | 'now'; since: Date | undefined };

/** A page of events. There is always a cursor: later requests with it get later events. */
export type EventPage = { data: unknown[]; nextCursor: string; hasMore: boolean };

/** A position is below 2^63. */
const cursorContent = z.tuple([z.string().regex(/^\d{1,18}$/)]);

/** The events of a workspace, which a reader can follow: each once, in the order of their commits (ADR 94). */
export class EventListService {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Up to `limit` events after a cursor, or from the start. Throws 400 for a malformed cursor. */
  async list(workspaceId: string, { limit, ...start }: Start & { limit: number }): Promise<EventPage> {
    const after = await this.#before(workspaceId, start);
    const found = await findEventsAfter(this.#db, workspaceId, { after, limit: limit + 1 });
    const shown = found.slice(0, limit);
    return {
      data: shown.map(({ payload }) => JSON.parse(payload)),
      nextCursor: cursorAt(shown.at(-1)?.position ?? after),
      hasMore: found.length > limit,
    };
  }

  /** The position before the first event of the list. */
  async #before(workspaceId: string, { cursor, from, since }: Start): Promise<string> {
    if (cursor !== undefined) return readPosition(cursor);
    if (from === 'now') return findLastPosition(this.#db, workspaceId);
    return since === undefined ? '0' : String(Math.max(0, since.getTime() * 1000 - 1));
  }
}

function cursorAt(position: string): string {
  return Buffer.from(JSON.stringify([position])).toString('base64url');
}

function readPosition(cursor: string): string {
  try {
    const [position] = cursorContent.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return position;
  } catch {
    throw invalidField(
      'query/cursor',
      'invalid',
      'is not a valid cursor (use nextCursor of an earlier page of events)',
    );
  }
}
