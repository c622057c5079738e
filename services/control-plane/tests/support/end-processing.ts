import { sql } from 'kysely';
import type { Database } from '../../src/db/database.ts';

/**
 * Ends the processing of all videos. Otherwise videos of earlier tests fill the queue of their workspace with commands, also later, when
 * their leases expire: a workspace has at most four commands in the queue.
 */
export async function endProcessing(db: Database): Promise<void> {
  await sql`
    update videos set command_due_at = null, command_claimed_until = null, command_published_at = null,
      waiting_since = null, status = case status when 'processing' then 'failed' else status end,
      error_code = case status when 'processing' then 'internal_error' else error_code end,
      content_key = case status when 'processing' then null else content_key end`.execute(db);
  // And their tasks.
  await db.deleteFrom('attempts').execute();
}
