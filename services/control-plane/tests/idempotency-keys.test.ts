import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { sql } from 'kysely';
import type { Database } from '../src/db/database.ts';
import {
  type Claim,
  claimKey,
  deleteOldKeys,
  findKey,
  type KeyUse,
  releaseKey,
  storeResponse,
} from '../src/idempotency/idempotency-keys.store.ts';
import { insertWorkspace } from './support/database.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const RESPONSE = { status: 201, location: '/v1/videos/vid_1', body: { id: 'vid_1' } };
const NO_RESPONSE = { status: null, location: null, body: null };

let db: Database;
withTestDatabase((opened) => {
  ({ db } = opened);
});

/** A key that was never used, in a workspace of its own. */
async function unused(keyHash: Buffer = randomBytes(32)): Promise<KeyUse> {
  return { workspaceId: await insertWorkspace(db), keyHash, payloadHash: randomBytes(32) };
}

const tryClaim = (use: KeyUse) => claimKey(db, use, { leaseSeconds: 60, keptHours: 24 });

async function claim(use: KeyUse): Promise<Claim> {
  const claimed = await tryClaim(use);
  if (claimed === undefined) throw new Error('The key is leased or has a response');
  return claimed;
}

const change = ({ workspaceId, keyHash }: KeyUse, values: { leased_until?: Date; created_at?: Date }) =>
  db
    .updateTable('idempotency_keys')
    .set(values)
    .where('workspace_id', '=', workspaceId)
    .where('key_hash', '=', keyHash)
    .execute();

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000);

/** A claim whose lease expired, and the claim of the request that leased the key afterwards. */
async function takenOver(use: KeyUse): Promise<{ lost: Claim; held: Claim }> {
  const first = await claim(use);
  const leased_until = hoursAgo(1);
  await change(use, { leased_until });
  return { lost: { ...first, leasedUntil: leased_until }, held: await claim(use) };
}

test('a key is leased to one request', async () => {
  const use = await unused();
  const { leasedUntil } = await claim(use);
  expect(leasedUntil.getTime()).toBeGreaterThan(Date.now() + 50_000);
  expect(await tryClaim(use)).toBeUndefined();
  expect(await findKey(db, use)).toMatchObject({ payload_hash: use.payloadHash, ...NO_RESPONSE });
});

/** Claims of one key in two workspaces, and of another key in the second one. The end of the lease alone does not identify a claim. */
async function threeClaims(): Promise<[Claim, Claim, Claim]> {
  const use = await unused();
  const elsewhere = await unused(use.keyHash);
  const beside = { ...elsewhere, keyHash: randomBytes(32), payloadHash: randomBytes(32) };
  const leasedUntil = new Date(Date.now() + 60_000);
  const claimOf = async (each: KeyUse) => {
    const claimed = await claim(each);
    await change(each, { leased_until: leasedUntil });
    return { ...claimed, leasedUntil };
  };
  return [await claimOf(use), await claimOf(elsewhere), await claimOf(beside)];
}

test('the same key in two workspaces, and two keys in one workspace, are different keys', async () => {
  const [use, elsewhere, beside] = await threeClaims();
  for (const each of [use, elsewhere, beside])
    expect((await findKey(db, each))?.payload_hash).toEqual(each.payloadHash);
  await storeResponse(db, elsewhere, RESPONSE);
  expect(await findKey(db, elsewhere)).toMatchObject(RESPONSE);
  for (const each of [use, beside]) expect(await findKey(db, each)).toMatchObject(NO_RESPONSE);
});

test('a key is released, and no other', async () => {
  const [use, elsewhere, beside] = await threeClaims();
  await releaseKey(db, elsewhere);
  expect(await findKey(db, elsewhere)).toBeUndefined();
  for (const each of [use, beside]) expect(await findKey(db, each)).toMatchObject(NO_RESPONSE);
});

test('a key with a response cannot be leased until it is a day old', async () => {
  const use = await unused();
  expect(await storeResponse(db, await claim(use), RESPONSE)).toBe(true);
  expect(await findKey(db, use)).toMatchObject({ ...RESPONSE, leased_until: null });
  expect(await tryClaim(use)).toBeUndefined();
  await change(use, { created_at: hoursAgo(24) });
  const next = { ...use, payloadHash: randomBytes(32) };
  await claim(next);
  const row = await findKey(db, use);
  expect(row).toMatchObject({ payload_hash: next.payloadHash, ...NO_RESPONSE });
  expect(row?.created_at.getTime()).toBeGreaterThan(hoursAgo(1).getTime());
});

test('a response without a location is stored', async () => {
  const use = await unused();
  await storeResponse(db, await claim(use), { status: 200, body: {} });
  expect(await findKey(db, use)).toMatchObject({ status: 200, location: null, body: {} });
});

test('a request that lost its lease to another request stores and releases nothing', async () => {
  const use = await unused();
  const { lost, held } = await takenOver(use);
  expect(await storeResponse(db, lost, RESPONSE)).toBe(false);
  await releaseKey(db, lost);
  expect(await findKey(db, use)).toMatchObject({ leased_until: held.leasedUntil, ...NO_RESPONSE });
  await releaseKey(db, held);
  expect(await findKey(db, use)).toBeUndefined();
});

test('old keys are deleted, a few at a time', async () => {
  await db.deleteFrom('idempotency_keys').execute();
  for (const hours of [23, 25, 26, 27]) {
    const use = await unused();
    await claim(use);
    await change(use, { created_at: hoursAgo(hours) });
  }
  const left = async () => (await sql`select from idempotency_keys`.execute(db)).rows.length;
  expect([await deleteOldKeys(db, 24, 2), await left()]).toEqual([2, 2]);
  expect([await deleteOldKeys(db, 24, 2), await left()]).toEqual([1, 1]);
});
