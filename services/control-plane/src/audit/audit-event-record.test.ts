import { expect, test } from '@jest/globals';
import { toAuditEvent } from './audit-event-record.ts';

test('fields have the names of the API', () => {
  const event = toAuditEvent({
    ...{ id: 'aud_1', workspace_id: 'ws_1', actor_type: 'api_key', actor_id: 'key_1', actor_name: 'Website' },
    ...{ operation: 'updateVideo', request_id: 'req_1', action: 'updated', resource_type: 'video' },
    ...{ resource_id: 'vid_1', resource_part: null, fields: ['title', 'playback_policy'] },
    changes: { playback_policy: ['public', 'signed'] },
    created_at: new Date('2026-11-21T09:00:00.000Z'),
  } as Parameters<typeof toAuditEvent>[0]);
  expect(event).toEqual({
    id: 'aud_1',
    createdAt: '2026-11-21T09:00:00.000Z',
    actor: { type: 'api_key', id: 'key_1', name: 'Website' },
    operation: 'updateVideo',
    requestId: 'req_1',
    action: 'updated',
    resource: { type: 'video', id: 'vid_1', part: null },
    fields: ['title', 'playbackPolicy'],
    changes: [{ field: 'playbackPolicy', from: 'public', to: 'signed' }],
  });
});
