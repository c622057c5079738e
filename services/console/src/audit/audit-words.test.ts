import { expect, test } from '@jest/globals';
import { actorWords, changeWords } from './audit-words.ts';

const event = {
  id: 'aud_1',
  createdAt: '2026-11-21T09:00:00.000Z',
  actor: { type: 'api_key', id: 'key_1', name: 'Website' },
  operation: 'updateVideo',
  requestId: 'req_1',
  action: 'updated',
  resource: { type: 'video', id: 'vid_1', part: null },
  fields: ['title', 'tags'],
} as const;

test('a change of fields', () => {
  expect(changeWords({ ...event, fields: [...event.fields] })).toBe('Updated video vid_1: title, tags');
});

test('the deletion of captions in a language', () => {
  const resource = { type: 'captions', id: 'vid_1', part: 'en' } as const;
  expect(changeWords({ ...event, action: 'deleted', resource, fields: [] })).toBe(
    'Deleted captions en of vid_1',
  );
});

test('who it was', () => {
  expect(actorWords(event.actor)).toBe('Website (API key)');
  expect(actorWords({ type: 'command_line', id: null, name: 'Command line' })).toBe(
    'Command line (on the server)',
  );
});
