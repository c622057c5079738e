import { randomBytes } from 'node:crypto';
import { newId } from '@framelane/contracts/ids';
import { describe, expect, test } from '@jest/globals';
import type { Database } from '../src/db/database.ts';
import {
  beginEpoch,
  endUnfinished,
  findResumable,
  findUnfinished,
  insertResumable,
  isPaused,
  leaseToResumable,
  storeCheckpoint,
} from '../src/upload-tickets/resumable-uploads.store.ts';
import {
  findExpiredTickets,
  findTicketByHash,
  holdsLease,
  isSpentBy,
  isTicketExpired,
  leaseTicket,
  releaseTicket,
  renewLease,
  replaceToken,
  spendTicket,
  uploadsInProgress,
} from '../src/upload-tickets/upload-tickets.store.ts';
import { insertWorkspace } from './support/database.ts';
import { insertVideo } from './support/video-rows.ts';
import { withTestDatabase } from './support/with-test-database.ts';

const TRANSFER = 'xfr_1';

let db: Database;
let workspaceId: string;
withTestDatabase((opened) => {
  ({ db, workspaceId } = opened);
});

const minutes = (count: number) => new Date(Date.now() + count * 60_000);

/** Differences from an unused ticket that expires in an hour, of a video that waits for its file. */
type Difference = {
  expired?: true;
  used?: true;
  failed?: true;
  /** The lease of the transfer TRANSFER, in minutes from now. */
  lease?: number;
  bytes?: number;
};

const LEASED = { lease: 10 };

async function ticket({ expired, used, failed, lease, bytes }: Difference = {}, workspace_id = workspaceId) {
  const videoId = newId('vid');
  const tokenHash = randomBytes(32);
  const failure = { status: 'failed', error_code: 'upload_expired' } as const;
  await insertVideo(db, workspace_id, { id: videoId, ...(failed && failure) });
  await db
    .insertInto('upload_tickets')
    .values({
      video_id: videoId,
      token_hash: tokenHash,
      expires_at: minutes(expired ? -1 : 60),
      extension_seconds: 3600,
      latest_expires_at: minutes(24 * 60),
      used_at: used ? minutes(-1) : null,
      transfer_id: lease === undefined ? null : TRANSFER,
      lease_expires_at: lease === undefined ? null : minutes(lease),
      announced_bytes: bytes ?? null,
    })
    .execute();
  return { videoId, tokenHash, transfer: { videoId, transferId: TRANSFER } };
}

const row = (videoId: string) =>
  db.selectFrom('upload_tickets').selectAll().where('video_id', '=', videoId).executeTakeFirstOrThrow();

test('a ticket is found by the hash of its token, with the workspace of its video', async () => {
  const [one, other] = [await ticket(), await ticket(LEASED, await insertWorkspace(db))];
  expect(await findTicketByHash(db, one.tokenHash)).toMatchObject({
    video_id: one.videoId,
    workspace_id: workspaceId,
    is_leased: false,
    is_expired: false,
  });
  expect(await findTicketByHash(db, other.tokenHash)).toMatchObject({ is_leased: true });
  expect(await findTicketByHash(db, randomBytes(32))).toBeUndefined();
});

describe('a token can be replaced', () => {
  test.each<[string, Difference, boolean]>([
    ['before the upload', {}, true],
    ['during a transfer', LEASED, true],
    ['not once it is used', { used: true }, false],
    ['not once it has expired', { expired: true }, false],
    ['not once the video failed', { failed: true }, false],
  ])('%s', async (_, difference, replaced) => {
    const { videoId, tokenHash } = await ticket(difference);
    const other = await ticket();
    const next = randomBytes(32);
    expect(await replaceToken(db, { workspaceId, videoId }, next)).toBe(replaced);
    expect((await row(videoId)).token_hash).toEqual(replaced ? next : tokenHash);
    expect((await row(other.videoId)).token_hash).toEqual(other.tokenHash);
  });

  test('only by its own workspace', async () => {
    const { videoId, tokenHash } = await ticket();
    const foreign = await insertWorkspace(db);
    expect(await replaceToken(db, { workspaceId: foreign, videoId }, randomBytes(32))).toBe(false);
    expect((await row(videoId)).token_hash).toEqual(tokenHash);
  });
});

test('uploads in progress are the leased ones of the workspace whose videos wait for their file', async () => {
  const workspace = await insertWorkspace(db);
  const inProgress = () => uploadsInProgress(db, workspace);
  expect(await inProgress()).toEqual({ count: 0, bytes: 0 });
  const others: Difference[] = [{}, { lease: -1 }, { lease: 10, used: true }, { lease: 10, failed: true }];
  for (const other of others) await ticket({ ...other, bytes: 1000 }, workspace);
  await ticket({ ...LEASED, bytes: 1000 });
  expect(await inProgress()).toEqual({ count: 0, bytes: 0 });
  await ticket({ ...LEASED, bytes: 5 }, workspace);
  await ticket({ ...LEASED, bytes: 7, expired: true }, workspace);
  expect(await inProgress()).toEqual({ count: 2, bytes: 12 });
});

test.each<[string, Difference, boolean]>([
  ['unused', {}, true],
  ['whose transfer has lost its lease', { lease: -1 }, true],
  ['that is leased', LEASED, false],
  ['that is used', { used: true, lease: -1 }, false],
  ['that has expired', { expired: true }, false],
])('a ticket %s: can a transfer lease it?', async (_, difference, leased) => {
  const { videoId, tokenHash } = await ticket(difference);
  const other = await ticket();
  const transfer = { transferId: 'xfr_2', claimId: 'c2', bytes: 9, leaseSeconds: 60 };
  expect(await leaseTicket(db, tokenHash, transfer)).toBe(leased);
  expect((await row(videoId)).transfer_id === 'xfr_2').toBe(leased);
  expect((await row(other.videoId)).transfer_id).toBeNull();
});

describe('a transfer', () => {
  const STRANGER = { transferId: 'xfr_2' };

  test('holds its ticket until it is used or the video failed', async () => {
    const holds = async (difference: Difference, other = {}) =>
      holdsLease(db, { ...(await ticket(difference)).transfer, ...other });
    expect([await holds(LEASED), await holds({ lease: -1 })]).toEqual([true, true]);
    expect([await holds({ ...LEASED, used: true }), await holds({ ...LEASED, failed: true })]).toEqual([
      ...[false, false],
    ]);
    expect([await holds(LEASED, STRANGER), await holds(LEASED, { videoId: newId('vid') })]).toEqual([
      ...[false, false],
    ]);
  });

  test('spends its ticket once', async () => {
    const { transfer } = await ticket(LEASED);
    const other = await ticket(LEASED);
    expect(await isSpentBy(db, transfer)).toBe(false);
    expect(await spendTicket(db, { ...transfer, ...STRANGER })).toBe(false);
    expect(await spendTicket(db, transfer)).toBe(true);
    expect(await spendTicket(db, transfer)).toBe(false);
    expect([await isSpentBy(db, transfer), await isSpentBy(db, { ...transfer, ...STRANGER })]).toEqual([
      ...[true, false],
    ]);
    expect(await isSpentBy(db, other.transfer)).toBe(false);
  });

  test('renews and releases the lease of its own ticket, until that is used', async () => {
    const mine = await ticket({ lease: 1 });
    const untouched = [await ticket({ lease: 1 }), await ticket({ lease: 1, used: true })];
    const before = await Promise.all(untouched.map(({ videoId }) => row(videoId)));
    const lease = async () => (await row(mine.videoId)).lease_expires_at?.getTime() ?? 0;

    const renewal = { leaseSeconds: 600, extendsTicket: false };
    await renewLease(db, { ...mine.transfer, ...STRANGER }, renewal);
    expect(await lease()).toBeLessThan(minutes(2).getTime());
    for (const { transfer } of [mine, ...untouched.slice(1)]) await renewLease(db, transfer, renewal);
    expect(await lease()).toBeGreaterThan(minutes(9).getTime());

    await releaseTicket(db, { ...mine.transfer, ...STRANGER });
    expect(await lease()).toBeGreaterThan(0);
    for (const { transfer } of [mine, ...untouched.slice(1)]) await releaseTicket(db, transfer);
    expect(await row(mine.videoId)).toMatchObject({ transfer_id: null, lease_expires_at: null });
    expect(await Promise.all(untouched.map(({ videoId }) => row(videoId)))).toEqual(before);
  });
});

test('a transfer of a failed video renews no lease', async () => {
  const { videoId, transfer } = await ticket({ lease: 1, failed: true });
  const before = await row(videoId);
  const renewal = { leaseSeconds: 600, extendsTicket: false };
  expect(await renewLease(db, transfer, renewal)).toBeUndefined();
  expect(await row(videoId)).toEqual(before);
});

describe('a resumable upload', () => {
  /** A ticket with an ended and an unfinished upload. The unfinished one holds the lease, if there is one. */
  async function resumable(difference: Difference = {}) {
    const { videoId } = await ticket(difference);
    const [ended, unfinished] = [newId('xfr'), newId('xfr')];
    await insertResumable(db, { videoId, transferId: ended, length: 9, metadata: '' });
    await endUnfinished(db, videoId, 'terminated');
    await insertResumable(db, { videoId, transferId: unfinished, length: 9, metadata: '' });
    if (difference.lease !== undefined) await hold(videoId, unfinished);
    return { videoId, ended, unfinished };
  }

  const hold = (videoId: string, transferId: string) =>
    db
      .updateTable('upload_tickets')
      .set({ transfer_id: transferId })
      .where('video_id', '=', videoId)
      .execute();

  const uploads = (videoId: string) =>
    db
      .selectFrom('resumable_uploads')
      .selectAll()
      .where('video_id', '=', videoId)
      .orderBy('transfer_id')
      .execute();

  test('is found by the ids of its video and its transfer', async () => {
    const [mine, other] = [await resumable(), await resumable()];
    expect(await findUnfinished(db, mine.videoId)).toMatchObject({ transfer_id: mine.unfinished });
    const find = (videoId: string, transferId: string) => findResumable(db, { videoId, transferId });
    expect(await find(mine.videoId, mine.ended)).toMatchObject({ transfer_id: mine.ended });
    expect(await find(mine.videoId, other.ended)).toBeUndefined();
  });

  test('ends once', async () => {
    const [mine, other] = [await resumable(), await resumable()];
    const find = (transferId: string) => findResumable(db, { videoId: mine.videoId, transferId });
    const before = await find(mine.ended);
    const untouched = await uploads(other.videoId);
    await endUnfinished(db, mine.videoId, 'superseded');
    expect(await find(mine.unfinished)).toMatchObject({ end_reason: 'superseded' });
    expect(await find(mine.ended)).toEqual(before);
    expect(await uploads(other.videoId)).toEqual(untouched);
    expect(await findUnfinished(db, mine.videoId)).toBeUndefined();
  });

  test('is paused while it is unfinished and its ticket waits for a file', async () => {
    const { unfinished, ended } = await resumable();
    expect([await isPaused(db, unfinished), await isPaused(db, ended)]).toEqual([true, false]);
    for (const difference of [{ used: true }, { failed: true }] as const)
      expect(await isPaused(db, (await resumable(difference)).unfinished)).toBe(false);
  });

  test.each<[string, Difference, boolean]>([
    ['that is unused', {}, true],
    ['that it holds', LEASED, true],
    ['that is used', { used: true }, false],
    ['that has expired', { expired: true }, false],
  ])('opened for a ticket %s: can it lease the ticket?', async (_, difference, leased) => {
    const { videoId, unfinished: transferId } = await resumable(difference);
    const other = await resumable();
    const expiry = await leaseToResumable(db, { videoId, transferId, bytes: 9, leaseSeconds: 1200 });
    const { expires_at, lease_expires_at, announced_bytes } = await row(videoId);
    expect(expiry).toEqual(leased ? expires_at : undefined);
    expect((lease_expires_at?.getTime() ?? 0) > minutes(19).getTime()).toBe(leased);
    expect(announced_bytes).toBe(leased ? 9 : null);
    expect(await row(other.videoId)).toMatchObject({ transfer_id: null });
  });

  test('leases no ticket that another transfer holds, until the lease of that transfer expires', async () => {
    const { videoId, unfinished: transferId } = await resumable(LEASED);
    const open = () => leaseToResumable(db, { videoId, transferId, bytes: 9, leaseSeconds: 60 });
    await hold(videoId, TRANSFER);
    expect(await open()).toBeUndefined();
    await db
      .updateTable('upload_tickets')
      .set({ lease_expires_at: minutes(-1) })
      .where('video_id', '=', videoId)
      .execute();
    expect(await open()).toBeInstanceOf(Date);
  });

  test('holds its ticket in its latest epoch until it ends', async () => {
    const { videoId, unfinished, ended } = await resumable(LEASED);
    const other = await resumable();
    const untouched = await uploads(other.videoId);
    const holds = (epoch: number) => holdsLease(db, { videoId, transferId: unfinished, epoch });
    expect(await beginEpoch(db, unfinished, null, 'c1')).toMatchObject({ epoch: 1 });
    expect(await beginEpoch(db, unfinished, 1, 'c2')).toMatchObject({ epoch: 1 });
    expect(await beginEpoch(db, ended, null, 'c1')).toBeUndefined();
    expect([await holds(1), await holds(0)]).toEqual([true, false]);

    const checkpoint = { id: 'm1', durableBytes: 5, tail: [], laterBytesUntrusted: false };
    const save = (transferId: string, epoch: number) =>
      storeCheckpoint(db, { transferId, epoch }, checkpoint);
    expect([await save(unfinished, 0), await save(ended, 0), await save(unfinished, 1)]).toEqual([
      ...[false, false, true],
    ]);
    expect(await findUnfinished(db, videoId)).toMatchObject({ checkpoint });
    expect(await uploads(other.videoId)).toEqual(untouched);

    await endUnfinished(db, videoId, 'superseded');
    expect(await holds(1)).toBe(false);
  });
});

describe('the video fails because of its expired ticket', () => {
  test.each<[string, Difference, { ended: boolean; mayLive: boolean }]>([
    ['without a transfer', { expired: true }, { ended: true, mayLive: true }],
    ['after the lease of its transfer', { expired: true, lease: -1 }, { ended: true, mayLive: false }],
    ['not during a transfer', { expired: true, lease: 10 }, { ended: false, mayLive: false }],
    ['not if it is used', { expired: true, used: true }, { ended: false, mayLive: false }],
    ['not twice', { expired: true, failed: true }, { ended: false, mayLive: false }],
    ['not before it expires', {}, { ended: false, mayLive: false }],
  ])('%s', async (_, difference, expected) => {
    await db.deleteFrom('upload_tickets').execute();
    const other = await ticket({ expired: true });
    const { videoId } = await ticket(difference);
    for (const transfers of ['ended', 'may_live'] as const) {
      const fails = transfers === 'ended' ? expected.ended : expected.mayLive;
      expect(await isTicketExpired(db, transfers, videoId)).toBe(fails);
      const found = await findExpiredTickets(db, transfers, 10);
      expect(found.toSorted()).toEqual([other.videoId, ...(fails ? [videoId] : [])].toSorted());
      expect(await findExpiredTickets(db, transfers, 1)).toHaveLength(1);
    }
  });
});
