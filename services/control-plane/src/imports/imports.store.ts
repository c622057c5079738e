import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../db/database.ts';
import { type Backlog, inSeconds, isDue, secondsSince } from '../db/due-rows.ts';
import { candidates, claimable, claimInTurn, type FairClaim, workspaceOf } from '../db/fair-claims.ts';
import type { ImportRow } from '../db/schema.ts';

/** An import and its transfer. */
export type ImportTransfer = { videoId: string; transferId: string };

/** A claimed import. `transferId` is that of the previous claim, if this one has not begun a transfer. */
export type DueImport = {
  videoId: string;
  workspace: string;
  /** Sealed. */
  request: string;
  transferId: string | null;
  secondsLeft: number;
  tries: number;
  startedOver: boolean;
};

/** `request` is sealed. */
export type NewImport = { videoId: string; shownUrl: string; request: string };

export async function insertImport(
  trx: Database,
  { videoId, shownUrl, request }: NewImport,
  deadlineSeconds: number,
): Promise<void> {
  await trx
    .insertInto('imports')
    .values({
      video_id: videoId,
      workspace_id: workspaceOf(videoId),
      shown_url: shownUrl,
      request,
      deadline: inSeconds(deadlineSeconds),
      due_at: sql`now()`,
    })
    .execute();
}

/** A claim of an import, except those of some workspaces. */
type ImportClaim = { claimId: string; leaseSeconds: number; except?: readonly string[] };

const DUE_IMPORT = sql`import.video_id as "videoId", import.workspace_id as workspace, request, tries, started_over as "startedOver",
  extract(epoch from deadline - now())::float8 as "secondsLeft",
  case when claim_id = (select claim_id from upload_tickets where video_id = import.video_id) then null
    else transfer_id end as "transferId"`;

/** Whether an import is due, before its deadline, and not claimed. During the lease grace, an expired claim counts as live. */
function isFree(expiredClaims: 'ended' | 'may_live') {
  const isUnclaimed =
    expiredClaims === 'ended'
      ? isDue('due_at', 'claimed_until')
      : sql<boolean>`(due_at <= now() and claimed_until is null)`;
  return sql<boolean>`(${isUnclaimed} and deadline > now())`;
}

/** The imports that engines fetch for a workspace. */
function running(workspaceId: RawBuilder<string>) {
  return sql<number>`select count(*) from imports claimed where claimed.workspace_id = ${workspaceId} and claimed_until > now()`;
}

/** One of the free imports, except those of some workspaces. */
function freeImport(expiredClaims: 'ended' | 'may_live', except: readonly string[]): FairClaim {
  return {
    table: 'imports',
    key: ['video_id'],
    group: 'workspace_id',
    due: 'due_at',
    isDue: isFree(expiredClaims),
    running,
    except,
    limit: 1,
  };
}

/**
 * Claims an import before its deadline, or finds the one that this claim has. Of the workspaces with the fewest running imports, it is the one
 * that has been due for longest. During the lease grace, an expired claim counts as live: its engine may have been unable to renew it.
 */
export async function claimDueImport(
  db: Database,
  { claimId, leaseSeconds, except = [] }: ImportClaim,
  expiredClaims: 'ended' | 'may_live',
): Promise<DueImport | undefined> {
  const free = freeImport(expiredClaims, except);
  const { rows } = await sql<{ any: boolean }>`
    select exists (select from imports where ${free.isDue} or claim_id = ${claimId}) as any`.execute(db);
  if (!rows[0]?.any) return undefined;
  return claimInTurn(db, 'import', async (trx) => {
    const repeated = await repeatImportClaim(trx, { claimId, leaseSeconds });
    if (repeated !== undefined) return repeated ?? undefined;
    const { rows } = await sql<DueImport>`
      with recursive ${claimable(free)}
      update imports import set claimed_until = ${inSeconds(leaseSeconds)}, claim_id = ${claimId}
      from claimable where import.video_id = claimable.video_id
      returning ${DUE_IMPORT}`.execute(trx);
    return rows[0];
  });
}

/** Renews the lease of the import that has this claim, and resolves with it. Null if the try has ended: nobody waits for the response. */
async function repeatImportClaim(
  trx: Database,
  { claimId, leaseSeconds }: ImportClaim,
): Promise<DueImport | null | undefined> {
  const { rows } = await sql<DueImport & { isClaimed: boolean }>`
    update imports import
    set claimed_until = case when claimed_until > now() then ${inSeconds(leaseSeconds)} else claimed_until end
    where claim_id = ${claimId}
    returning ${DUE_IMPORT}, coalesce(claimed_until > now(), false) as "isClaimed"`.execute(trx);
  const [found] = rows;
  return found && (found.isClaimed ? found : null);
}

/** A workspace with fewer running imports than this one, of which an import waits; undefined if there is none, apart from `except`. */
export async function findOtherWaiting(
  db: Database,
  workspaceId: string,
  { expiredClaims, except }: { expiredClaims: 'ended' | 'may_live'; except: readonly string[] },
): Promise<string | undefined> {
  const { rows } = await sql<{ workspace: string }>`
    with recursive ${candidates(freeImport(expiredClaims, except))}
    select imports.workspace_id as workspace from candidates join imports using (video_id)
    where imports.workspace_id <> ${workspaceId}
      and (${running(sql`imports.workspace_id`)}) < (${running(sql`${workspaceId}`)})`.execute(db);
  return rows[0]?.workspace;
}

/** Stores the transfer of a claimed import, which begins at the first byte. */
export async function beginTransfer(db: Database, { videoId, transferId }: ImportTransfer): Promise<void> {
  await db
    .updateTable('imports')
    .set({ transfer_id: transferId, bytes: 0, total_bytes: null, next_try_at: null })
    .where('video_id', '=', videoId)
    .execute();
}

/** Makes a claimed import due again after `seconds`, unless it has ended. Its claim can have another one. */
export async function postpone(db: Database, videoId: string, seconds: number): Promise<void> {
  await db
    .updateTable('imports')
    .set({
      due_at: sql`case when due_at is not null then ${inSeconds(seconds)} end`,
      claimed_until: null,
      claim_id: null,
    })
    .where('video_id', '=', videoId)
    .execute();
}

/** What an engine reports of its transfer. */
export type ImportProgress = ImportTransfer &
  Pick<ImportRow, 'bytes' | 'tries' | 'failure'> & {
    totalBytes: number | null;
    nextTryInSeconds: number | null;
  };

/**
 * Stores the progress of a transfer and renews its claim. An earlier failure stays stored until the next one. Resolves with
 * whether the transfer is current.
 */
export async function storeProgress(
  db: Database,
  { videoId, transferId, bytes, totalBytes, tries, nextTryInSeconds, failure }: ImportProgress,
  leaseSeconds: number,
): Promise<boolean> {
  const result = await db
    .updateTable('imports')
    .set({
      bytes,
      total_bytes: totalBytes,
      tries,
      ...(failure !== null && { failure }),
      next_try_at: nextTryInSeconds === null ? null : inSeconds(nextTryInSeconds),
      claimed_until: inSeconds(leaseSeconds),
    })
    .where('video_id', '=', videoId)
    .where('transfer_id', '=', transferId)
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** How a try ended without a file. Without `retryInSeconds` the import ends with its video. */
export type EndedTry = ImportTransfer &
  Pick<ImportRow, 'tries' | 'failure'> & { startedOver: boolean; retryInSeconds: number | null };

/** Stores the end of a try. Its transfer is no longer current afterwards. Resolves with whether it was current. */
export async function storeEndOfTry(
  trx: Database,
  { videoId, transferId, tries, startedOver, retryInSeconds, failure }: EndedTry,
): Promise<boolean> {
  const due = inSeconds(retryInSeconds ?? 0);
  const result = await trx
    .updateTable('imports')
    .set({
      tries,
      started_over: startedOver,
      ...(failure !== null && { failure }),
      transfer_id: null,
      claimed_until: null,
      due_at: due,
      next_try_at: failure === null || retryInSeconds === null ? null : due,
    })
    .where('video_id', '=', videoId)
    .where('transfer_id', '=', transferId)
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** Imports whose deadline has passed. */
export async function findExpiredImports(db: Database, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('imports')
    .select('video_id')
    .where('due_at', 'is not', null)
    .where('deadline', '<=', sql<Date>`now()`)
    .limit(limit)
    .execute();
  return rows.map((row) => row.video_id);
}

/** Ends the claims of all imports. Call it only while no engine runs. */
export async function releaseAllClaims(db: Database): Promise<void> {
  await db
    .updateTable('imports')
    .set({ claimed_until: null })
    .where('claimed_until', 'is not', null)
    .execute();
}

/** The imports that are due and wait for an engine, and those that an engine fetches. */
export async function findImportBacklog(db: Database): Promise<{ waiting: Backlog; running: Backlog }> {
  const row = await db
    .selectFrom('imports')
    .select([
      sql<number>`count(*) filter (where claimed_until is null)`.as('waiting'),
      sql<number>`count(claimed_until)`.as('running'),
      secondsSince(sql`min(due_at) filter (where claimed_until is null)`).as('waitingSeconds'),
      secondsSince(sql`min(due_at) filter (where claimed_until is not null)`).as('runningSeconds'),
    ])
    .where('due_at', '<=', sql<Date>`now()`)
    .executeTakeFirstOrThrow();
  return {
    waiting: { count: row.waiting, oldestSeconds: row.waitingSeconds },
    running: { count: row.running, oldestSeconds: row.runningSeconds },
  };
}
