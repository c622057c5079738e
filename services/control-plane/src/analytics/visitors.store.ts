import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** The salt of a day: the given one, unless another control plane has stored one. */
export async function saltOf(db: Database, day: string, proposed: Buffer): Promise<Buffer> {
  const { rows } = await sql<{ salt: Buffer }>`
    insert into view_salts as stored (day, salt) values (${day}, ${proposed})
    on conflict (day) do update set salt = stored.salt
    returning salt`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('The database returned no salt');
  return row.salt;
}

/** Deletes the salts of earlier days. */
export async function deleteOldSalts(db: Database): Promise<void> {
  await sql`delete from view_salts where day < (now() at time zone 'UTC')::date`.execute(db);
}
