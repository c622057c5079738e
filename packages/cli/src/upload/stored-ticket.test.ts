import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { UploadTicket } from '@framelane/client';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { forgetOldTickets, StoredTicket, ticketName, ticketsDirectory } from './stored-ticket.ts';

const CONNECTION = { baseUrl: 'https://video.test/v1', workspaceId: 'ws_1', apiKey: 'a' };
const FILE = { path: '/a.mp4', size: 1, modified: 2 };
const TICKET = { videoId: 'vid_1', uploadToken: 'secret' } as UploadTicket;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-tickets-'));
});
afterEach(() => rm(directory, { recursive: true }));

test('another key continues an upload, another file, workspace or field does not', () => {
  const name = ticketName(CONNECTION, FILE, {});
  expect(ticketName({ ...CONNECTION, apiKey: 'b' }, FILE, {})).toBe(name);
  const others = [
    ticketName({ ...CONNECTION, workspaceId: 'ws_2' }, FILE, {}),
    ticketName({ ...CONNECTION, baseUrl: 'https://other.test/v1' }, FILE, {}),
    ...[{ path: '/b.mp4' }, { size: 2 }, { modified: 3 }].map((change) =>
      ticketName(CONNECTION, { ...FILE, ...change }, {}),
    ),
    ticketName(CONNECTION, FILE, { title: 'B' }),
  ];
  expect(new Set([name, ...others]).size).toBe(others.length + 1);
});

test('keeps a ticket that only the user can read, until it is deleted', async () => {
  const tickets = join(directory, 'uploads');
  const stored = new StoredTicket(tickets, 'a.json');
  expect(await stored.get()).toBeNull();
  await stored.set(TICKET);
  expect(await new StoredTicket(tickets, 'a.json').get()).toEqual(TICKET);
  expect((await stat(join(tickets, 'a.json'))).mode & 0o777).toBe(0o600);
  expect((await stat(tickets)).mode & 0o777).toBe(0o700);
  expect(await readdir(tickets)).toEqual(['a.json']);
  await stored.delete();
  await stored.delete();
  expect(await stored.get()).toBeNull();
});

test('forgets tickets that cannot be valid any more', async () => {
  for (const name of ['old.json', 'new.json']) await writeFile(join(directory, name), '{}');
  const longAgo = Date.now() / 1000 - 31 * 86_400;
  await utimes(join(directory, 'old.json'), longAgo, longAgo);
  await forgetOldTickets(directory);
  expect(await readdir(directory)).toEqual(['new.json']);
  await forgetOldTickets(join(directory, 'none'));
});

test('the directory follows the XDG Base Directory Specification', () => {
  expect(ticketsDirectory({ XDG_STATE_HOME: '/state', HOME: '/home/a' })).toBe('/state/framelane/uploads');
  expect(ticketsDirectory({ XDG_STATE_HOME: '', HOME: '/home/a' })).toBe(
    '/home/a/.local/state/framelane/uploads',
  );
});

test('says how to choose another directory, before a ticket is asked for, if none can be kept', async () => {
  await writeFile(join(directory, 'file'), '');
  const kept = new StoredTicket(join(directory, 'file', 'uploads'), 'a.json').get();
  await expect(kept).rejects.toThrow(/cannot be kept: ENOTDIR.*Set XDG_STATE_HOME to a directory/);
});

test.each(['', '{', '{}', 'null'])('a damaged ticket is as good as none: %j', async (content) => {
  await writeFile(join(directory, 'a.json'), content);
  expect(await new StoredTicket(directory, 'a.json').get()).toBeNull();
});
