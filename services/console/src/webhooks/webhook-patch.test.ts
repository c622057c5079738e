import { expect, test } from '@jest/globals';
import { type WebhookValues, webhookPatch } from './webhook-patch.ts';

const BEFORE: WebhookValues = {
  url: 'https://a.example/hooks',
  description: null,
  events: ['video.failed', 'video.ready'],
};

test.each<[string, Partial<WebhookValues>, object]>([
  ['nothing, if only the order of the events differs', { events: ['video.ready', 'video.failed'] }, {}],
  ['the URL', { url: 'https://b.example' }, { url: 'https://b.example' }],
  ['a description', { description: 'Catalogue' }, { description: 'Catalogue' }],
  ['one event less', { events: ['video.ready'] }, { events: ['video.ready'] }],
  [
    'another event',
    { events: ['video.ready', 'video.deleted'] },
    { events: ['video.ready', 'video.deleted'] },
  ],
])('the patch contains only what changed: %s', (_, changes, patch) => {
  expect(webhookPatch(BEFORE, { ...BEFORE, ...changes })).toEqual(patch);
});
