import { newId } from '@framelane/contracts/ids';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import request from 'supertest';
import { newApiKeySecret } from '../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../src/api-keys/api-keys.service.ts';
import { auditEventsOf } from '../src/audit/audit-events.store.ts';
import { runAdminOn } from './admin/run-admin-on.ts';
import { CONSOLE_ORIGIN, createCode, signIn } from './support/console.ts';
import { startControlPlane, type TestControlPlane } from './support/control-plane.ts';

let plane: TestControlPlane;
beforeAll(async () => {
  plane = await startControlPlane();
});
afterAll(() => plane.stop());

type Event = {
  id: string;
  actor: { type: string; id: string | null; name: string };
  operation: string;
  requestId: string | null;
  action: string;
  resource: { type: string; id: string; part: string | null };
  fields: string[];
  changes: { field: string; from: unknown; to: unknown }[];
};

const api = (
  method: 'get' | 'post' | 'put' | 'patch' | 'delete',
  path: string,
  headers = plane.credentials,
) => request(plane.url)[method](`/v1${path}`).set(headers);

async function events(query = '', headers = plane.credentials): Promise<Event[]> {
  const { body } = await api('get', `/audit-events${query}`, headers).expect(200);
  return body.data;
}

/** A key of a workspace of its own, whose audit log is empty. */
async function ownWorkspace(name = 'Own key') {
  const workspaceId = newId('ws');
  await plane.db.insertInto('workspaces').values({ id: workspaceId, name: 'Own' }).execute();
  const secret = newApiKeySecret('live');
  await createFullKey(plane.db, { workspaceId, name, secret });
  return { authorization: `Bearer ${secret}`, 'x-svc-workspace': workspaceId };
}

test('a change by a key: who, what, in which request, and no value', async () => {
  const headers = await ownWorkspace();
  const { body } = await api('post', '/videos/upload-ticket', headers).send({
    filename: 'private.mp4',
    title: 'Ann is ill',
  });
  const { body: me } = await api('get', '/auth/whoami', headers);
  await api('patch', `/videos/${body.videoId}`, headers)
    .set('x-request-id', 'my-request')
    .send({ title: 'Ann is better', metadata: { who: 'Ann' }, playbackPolicy: 'signed' })
    .expect(200);
  await api('put', `/videos/${body.videoId}/captions/en`, headers)
    .type('text/vtt')
    .send('WEBVTT\n\n00:01.000 --> 00:02.000\nAnn\n')
    .expect(201);
  await api('delete', `/videos/${body.videoId}`, headers).expect(204);
  const found = await events('', headers);
  const video = { type: 'video', id: body.videoId, part: null };
  const captions = { type: 'captions', id: body.videoId, part: 'en' };
  expect(
    found.map(({ operation, action, resource, fields }) => ({ operation, action, resource, fields })),
  ).toEqual([
    { operation: 'deleteVideo', action: 'deleted', resource: video, fields: [] },
    { operation: 'deleteVideo', action: 'deleted', resource: captions, fields: [] },
    { operation: 'setCaptions', action: 'created', resource: captions, fields: [] },
    {
      operation: 'updateVideo',
      action: 'updated',
      resource: video,
      fields: expect.arrayContaining(['metadata', 'playbackPolicy', 'title']),
    },
    { operation: 'createUploadTicket', action: 'created', resource: video, fields: [] },
  ]);
  expect(found[3]).toMatchObject({
    actor: { type: 'api_key', id: me.apiKey.id, name: 'Own key' },
    requestId: 'my-request',
  });
  expect(JSON.stringify(found)).not.toContain('Ann');
  expect(JSON.stringify(found)).not.toContain('private');
});

test('a secret as the id of a request is not kept', async () => {
  const headers = await ownWorkspace();
  await api('post', '/videos/upload-ticket', headers)
    .set('x-request-id', headers.authorization.replace('Bearer ', ''))
    .send({ filename: 'a.mp4' })
    .expect(201);
  expect(await events('', headers)).toMatchObject([{ requestId: '[secret]' }]);
});

test('what is refused, and what changes nothing, is no event', async () => {
  const headers = await ownWorkspace();
  const { body: me } = await api('get', '/auth/whoami', headers);
  await api('delete', `/api-keys/${me.apiKey.id}`, headers).expect(409);
  await api('post', '/webhooks', headers).send({ url: 'ftp://x' }).expect(400);
  expect(await events('', headers)).toEqual([]);
});

test('old and new values of settings, and of no text', async () => {
  const headers = await ownWorkspace();
  const workspaceId = headers['x-svc-workspace'];
  const permissions = ['videos:read', 'webhooks:read'];
  await api('post', '/api-keys', headers).send({ name: 'Ann', permissions }).expect(201);
  const { body: hook } = await api('post', '/webhooks', headers).send({ url: 'https://ann.example/hook' });
  await api('patch', `/webhooks/${hook.id}`, headers)
    .send({ enabled: false, description: 'For Ann', events: ['video.ready'] })
    .expect(200);
  const { body: ticket } = await api('post', '/videos/upload-ticket', headers).send({ filename: 'ann.mp4' });
  await api('patch', `/videos/${ticket.videoId}`, headers)
    .send({ title: 'Ann', playbackPolicy: 'signed', allowedOrigins: ['https://ann.example'] })
    .expect(200);
  const limits = ['limits', 'set', '--workspace', workspaceId];
  expect(await runAdminOn(plane.databaseUrl, [...limits, '--videos', '5'])).toMatchObject({ code: 0 });
  expect(await runAdminOn(plane.databaseUrl, [...limits, '--videos', '7'])).toMatchObject({ code: 0 });
  const found = await events('', headers);
  expect(found.map(({ operation, changes }) => ({ operation, changes }))).toEqual([
    { operation: 'limits set', changes: [{ field: 'videos', from: 5, to: 7 }] },
    { operation: 'limits set', changes: [{ field: 'videos', from: null, to: 5 }] },
    { operation: 'updateVideo', changes: [{ field: 'playbackPolicy', from: 'public', to: 'signed' }] },
    { operation: 'createUploadTicket', changes: [{ field: 'playbackPolicy', from: null, to: 'public' }] },
    {
      operation: 'updateWebhook',
      changes: expect.arrayContaining([
        { field: 'enabled', from: true, to: false },
        { field: 'events', from: expect.arrayContaining(['video.ready']), to: ['video.ready'] },
      ]),
    },
    {
      operation: 'createWebhook',
      changes: expect.arrayContaining([{ field: 'enabled', from: null, to: true }]),
    },
    {
      operation: 'createApiKey',
      changes: expect.arrayContaining([
        { field: 'environment', from: null, to: 'live' },
        { field: 'permissions', from: null, to: permissions },
      ]),
    },
  ]);
  expect(JSON.stringify(found)).not.toMatch(/Ann|ann\.(example|mp4)/);
});

test('who signs in and out, in each workspace of a link', async () => {
  const [first, second] = [await ownWorkspace(), await ownWorkspace()];
  const ids = [first, second].map((headers) => headers['x-svc-workspace']);
  const grants = ids.map((workspaceId) => ({
    workspaceId,
    environments: ['live'] as const,
    permissions: ['videos:read'] as const,
  }));
  const session = await signIn(plane, { name: 'Kim', grants });
  await api('delete', '/console/session', session.headers).expect(204);
  const both = await Promise.all([events('', first), events('', second)]);
  for (const found of both) {
    const sessionId = found[0]?.resource.id;
    expect(found).toMatchObject([
      { action: 'signed_out', operation: 'deleteConsoleSession' },
      { action: 'signed_in', operation: 'createConsoleSession' },
    ]);
    for (const event of found) {
      expect(event).toMatchObject({
        actor: { type: 'link', id: sessionId, name: 'Kim' },
        requestId: expect.any(String),
        resource: { type: 'session', id: sessionId, part: null },
        fields: [],
        changes: [],
      });
    }
  }
  expect(both[0]?.[0]?.resource.id).not.toBe(both[1]?.[0]?.resource.id);
});

test('a link that was used before or has expired is refused, which is an event once', async () => {
  const headers = await ownWorkspace();
  const workspaceId = headers['x-svc-workspace'];
  const open = (code: string) =>
    request(plane.url).post('/v1/console/sessions').set('origin', CONSOLE_ORIGIN).send({ code });
  const used = await createCode({ ...plane, workspaceId }, { name: 'Used' });
  const expired = await createCode({ ...plane, workspaceId }, { name: 'Expired' });
  await sql`update console_codes set expires_at = now() where name = 'Expired'`.execute(plane.db);
  await open(used).expect(201);
  for (const code of [used, used, expired, expired, `${used}x`]) await open(code).expect(401);
  const found = await events('?action=refused', headers);
  expect(found).toMatchObject([
    { resource: { type: 'sign_in_link', id: 'Expired' }, fields: ['expiresAt'] },
    {
      actor: { type: 'link', id: null, name: 'Used' },
      operation: 'createConsoleSession',
      resource: { type: 'sign_in_link', id: 'Used', part: null },
      fields: ['usedAt'],
    },
  ]);
  expect(JSON.stringify(found)).not.toContain(used);
  await plane.maintain('prune-console-sessions');
  expect(await events('?action=refused', headers)).toEqual(found);
});

test('an export of the log is an event; a look at its size is none', async () => {
  const headers = await ownWorkspace();
  await request(plane.url).head('/v1/audit-events/csv').set(headers).expect(200);
  const { text } = await api('get', '/audit-events/csv', headers).expect(200);
  expect(text.split('\r\n')).toHaveLength(2);
  const workspaceId = headers['x-svc-workspace'];
  expect(await events('', headers)).toMatchObject([
    {
      actor: { type: 'api_key', name: 'Own key' },
      operation: 'exportAuditEvents',
      action: 'exported',
      resource: { type: 'audit_log', id: workspaceId, part: null },
    },
  ]);
});

test('only keys with the permission read the log, and only that of their workspace', async () => {
  const [own, other] = [await ownWorkspace(), await ownWorkspace()];
  await api('post', '/videos/upload-ticket', other).send({ filename: 'a.mp4' }).expect(201);
  const { body } = await api('post', '/api-keys', own).send({
    name: 'No audit',
    permissions: ['videos:read'],
  });
  const without = { ...own, authorization: `Bearer ${body.secret}` };
  for (const path of ['/audit-events', '/audit-events/csv', '/requests', '/request-errors']) {
    await api('get', path, without).expect(403);
    await api('get', path, { ...own, 'x-svc-workspace': other['x-svc-workspace'] }).expect(403);
  }
  const [foreign] = await events('', other);
  expect(await events(`?resourceId=${foreign?.resource.id}`, own)).toEqual([]);
  expect(await events(`?actorId=${foreign?.actor.id}`, own)).toEqual([]);
  // A cursor of another workspace only says where to begin.
  await api('post', '/videos/upload-ticket', other).send({ filename: 'b.mp4' }).expect(201);
  const { body: page } = await api('get', '/audit-events?limit=1', other).expect(200);
  const { body: begun } = await api('get', `/audit-events?cursor=${page.nextCursor}`, own).expect(200);
  expect(begun.data.map(({ actor }: Event) => actor.id)).not.toContain(foreign?.actor.id);
  const { text } = await api('get', '/audit-events/csv', own).expect(200);
  expect(text).not.toContain(foreign?.id);
});

test('each filter reads about as many events as the page has', async () => {
  const workspaceId = (await ownWorkspace())['x-svc-workspace'];
  await sql`insert into audit_events (id, workspace_id, actor_type, actor_id, actor_name, operation, action, resource_type,
      resource_id, fields, changes, created_at)
    select 'aud_plan' || n, ${workspaceId}, 'api_key', 'key_' || n % 50, 'x', 'x',
      case when n % 50 = 0 then 'deleted' else 'updated' end, case when n % 50 = 0 then 'webhook' else 'video' end,
      'vid_' || n % 50, '{}', '{}', now() - n * interval '1 minute' from generate_series(1, 5000) n`.execute(
    plane.db,
  );
  await sql`analyze audit_events`.execute(plane.db);
  const all = {
    ...{ actorId: undefined, action: undefined, resourceType: undefined, resourceId: undefined },
    ...{ createdAfter: undefined, createdBefore: undefined },
  };
  const filters = {
    workspace: {},
    actor: { actorId: 'key_0' },
    action: { action: 'deleted' },
    type: { resourceType: 'webhook' },
    resource: { resourceId: 'vid_0' },
  } as const;
  for (const [name, filter] of Object.entries(filters)) {
    const page = auditEventsOf(plane.db, workspaceId, { ...all, ...filter }, { after: undefined, limit: 20 });
    const lines = await page.explain('text', sql`analyze, costs off, timing off, summary off`);
    const plan = lines.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan).toContain(`Index Scan using audit_events_by_${name} on audit_events`);
    expect(plan).not.toMatch(/Sort|Seq Scan|Rows Removed by Filter/);
  }
});

test('a session of a link, and the command line', async () => {
  const session = await signIn(plane, { name: 'Kim' });
  await api('post', '/api-keys', session.headers).send({ name: 'From the console' }).expect(201);
  const [created] = await events(`?actorId=${session.id}&action=created`);
  expect(created).toMatchObject({
    actor: { type: 'link', id: session.id, name: 'Kim' },
    operation: 'createApiKey',
    resource: { type: 'api_key' },
  });
  const keyId = created?.resource.id ?? '';
  expect(await runAdminOn(plane.databaseUrl, ['key', 'revoke', keyId])).toMatchObject({ code: 0 });
  expect(await events(`?resourceId=${keyId}`)).toMatchObject([
    {
      actor: { type: 'command_line', id: null, name: 'Command line' },
      operation: 'key revoke',
      requestId: null,
      action: 'deleted',
      resource: { type: 'api_key', id: keyId, part: null },
      fields: [],
    },
    { actor: { name: 'Kim' } },
  ]);
});

test('what engines and maintenance change is no event', async () => {
  const { videoId } = await plane.readyVideo();
  expect(await events(`?resourceId=${videoId}`)).toMatchObject([{ operation: 'createUploadTicket' }]);
});

test('concurrent requests record their own keys', async () => {
  const others = await Promise.all(Array.from({ length: 8 }, (_, index) => ownWorkspace(`Key ${index}`)));
  await Promise.all(
    others.flatMap((headers) =>
      ['a', 'b', 'c'].map((name) =>
        api('post', '/videos/upload-ticket', headers).send({ filename: `${name}.mp4` }),
      ),
    ),
  );
  for (const [index, headers] of others.entries()) {
    const names = (await events('', headers)).map(({ actor }) => actor.name);
    expect(names).toEqual([`Key ${index}`, `Key ${index}`, `Key ${index}`]);
  }
});

test('filters, pages and workspaces', async () => {
  const headers = await ownWorkspace();
  for (const filename of ['a.mp4', 'b.mp4', 'c.mp4']) {
    await api('post', '/videos/upload-ticket', headers).send({ filename }).expect(201);
  }
  const all = await events('', headers);
  const { body: page, headers: got } = await api('get', '/audit-events?limit=2', headers);
  const { body: rest } = await api('get', `/audit-events?limit=2&cursor=${page.nextCursor}`, headers);
  expect(got.link).toContain('rel="next"');
  expect([...page.data, ...rest.data]).toEqual(all);
  expect([page.hasMore, rest.hasMore, rest.nextCursor]).toEqual([true, false, null]);
  const [, middle] = all as (Event & { createdAt: string })[];
  const count = async (query: string) => (await events(`?${query}`, headers)).length;
  expect(await count(`resourceId=${middle?.resource.id}`)).toBe(1);
  expect(await count('resourceType=video')).toBe(3);
  expect(await count('resourceType=webhook')).toBe(0);
  expect(await count('actorId=key_unknown')).toBe(0);
  expect(await count(`createdAfter=${middle?.createdAt}&resourceId=${middle?.resource.id}`)).toBe(1);
  expect(await count(`createdBefore=${middle?.createdAt}&resourceId=${middle?.resource.id}`)).toBe(0);
});

test('the CSV file has all events, and no formulas', async () => {
  const headers = await ownWorkspace('=HYPERLINK("http://evil.example")');
  await api('post', '/videos/upload-ticket', headers).send({ filename: 'a.mp4' }).expect(201);
  // More than are read at once.
  await sql`insert into audit_events (id, workspace_id, actor_type, actor_name, operation, action, resource_type,
      resource_id, fields, changes, created_at)
    select 'aud_csv' || n, ${headers['x-svc-workspace']}, 'command_line', 'x', 'x', 'created', 'video',
      'vid_' || n, '{}', '{}', now() - interval '1 day' from generate_series(1, 2500) n`.execute(plane.db);
  const { text, headers: got } = await api('get', '/audit-events/csv', headers).expect(200);
  const lines = text.split('\r\n');
  expect(lines).toHaveLength(1 + 2501 + 1);
  expect(new Set(lines).size).toBe(lines.length);
  expect(lines[1]).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
  expect(got['content-disposition']).toBe('attachment; filename="audit.csv"');
  const filtered = await api('get', '/audit-events/csv?resourceId=vid_7', headers).expect(200);
  expect(filtered.text.split('\r\n')).toHaveLength(3);
  const head = await request(plane.url).head('/v1/audit-events/csv').set(headers);
  expect([head.status, head.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
});

test('nobody changes an event, and only maintenance deletes old ones', async () => {
  const headers = await ownWorkspace();
  await sql`insert into audit_events (id, workspace_id, actor_type, actor_name, operation, action, resource_type,
      resource_id, fields, changes, created_at)
    select new_audit_event_id(), ${headers['x-svc-workspace']}, 'command_line', 'x', 'x', 'created', 'video', name, '{}', '{}',
      now() - age from (values ('young', interval '89 days 23 hours'), ('old', interval '90 days 1 hour')) as ages (name, age)
    `.execute(plane.db);
  for (const change of [
    `update audit_events set actor_name = 'y'`,
    `update audit_events set created_at = now() where resource_id = 'old'`,
    `delete from audit_events where resource_id = 'young'`,
    'truncate audit_events',
    'truncate workspaces cascade',
  ]) {
    await expect(sql.raw(change).execute(plane.db)).rejects.toThrow(/Audit events cannot be changed/);
  }
  // The role of the service owns the tables, but is no superuser.
  await expect(sql.raw(`set session_replication_role = replica`).execute(plane.db)).rejects.toThrow(
    /permission denied/,
  );
  await plane.maintain('prune-audit-events');
  expect((await events('', headers)).map(({ resource }) => resource.id)).toEqual(['young']);
});
