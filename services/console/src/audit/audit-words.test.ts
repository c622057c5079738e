import { expect, test } from '@jest/globals';
import { actorWords, changeWords, valuesWords, valueWords } from './audit-words.ts';

const event = {
  id: 'aud_1',
  createdAt: '2026-11-21T09:00:00.000Z',
  actor: { type: 'api_key', id: 'key_1', name: 'Website' },
  operation: 'updateVideo',
  requestId: 'req_1',
  action: 'updated',
  resource: { type: 'video', id: 'vid_1', part: null },
  fields: ['title', 'tags'],
  changes: [],
} as const;

test('a change of fields', () => {
  expect(changeWords({ ...event, fields: [...event.fields], changes: [] })).toBe(
    'Updated video vid_1: title, tags',
  );
});

test('the deletion of captions in a language', () => {
  const resource = { type: 'captions', id: 'vid_1', part: 'en' } as const;
  expect(changeWords({ ...event, action: 'deleted', resource, fields: [], changes: [] })).toBe(
    'Deleted captions en of vid_1',
  );
});

test('who it was', () => {
  expect(actorWords(event.actor)).toBe('Website (API key)');
  expect(actorWords({ type: 'command_line', id: null, name: 'Command line' })).toBe(
    'Command line (on the server)',
  );
});

test('a change of values, beside a field without', () => {
  const changes = [{ field: 'playbackPolicy', from: 'public', to: 'signed' }];
  expect(changeWords({ ...event, fields: ['playbackPolicy', 'title'], changes })).toBe(
    'Updated video vid_1: playbackPolicy public → signed, title',
  );
});

test('the limits and the log of the workspace have no id', () => {
  const limits = { type: 'limits', id: 'ws_1', part: null } as const;
  const changes = [{ field: 'videos', from: 500, to: 1000 }];
  expect(changeWords({ ...event, resource: limits, fields: ['videos'], changes })).toBe(
    'Updated limits of the workspace: videos 500 → 1000',
  );
  const log = { type: 'audit_log', id: 'ws_1', part: null } as const;
  expect(changeWords({ ...event, action: 'exported', resource: log, fields: [], changes: [] })).toBe(
    'Exported the audit log',
  );
});

test('a refused link, with the reason', () => {
  const resource = { type: 'sign_in_link', id: 'Kim', part: null } as const;
  const refused = { ...event, action: 'refused', resource, changes: [] } as const;
  expect(changeWords({ ...refused, fields: ['usedAt'], changes: [] })).toBe(
    'Refused sign-in link Kim: it was used before',
  );
});

test.each([
  ['created', 'test'],
  ['deleted', 'live'],
  ['updated', 'live → test'],
] as const)('the values of a resource that was %s', (action, words) => {
  expect(valuesWords(action, { from: 'live', to: 'test' })).toBe(words);
});

test.each([
  [null, 'none'],
  [[], 'none'],
  [['videos:read', 'videos:write'], 'videos:read, videos:write'],
  [true, 'yes'],
  [false, 'no'],
  [0, '0'],
])('the value %j is %j', (value, words) => expect(valueWords(value)).toBe(words));
