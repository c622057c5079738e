import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, type WebhookHeaders } from './verify-webhook.ts';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes, ok').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.from('another one of thirty-two bytes.').toString('base64')}`;

const EVENT = {
  id: 'evt_01m7y5k79zfqetgq5s0h3j1r7d',
  type: 'video.deleted',
  timestamp: '2026-11-21T11:30:00.512Z',
  workspaceId: 'ws_01m7y5g5zrfqetgq22xjmkgf70',
  data: { id: 'vid_01m7y5g5zqfqetgq1je8rn7s3t', title: 'Été', status: 'deleted' },
};
const PAYLOAD = JSON.stringify(EVENT);

function signed({ secret = SECRET, at = new Date() } = {}): Record<string, string> {
  return {
    'webhook-id': EVENT.id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(EVENT.id, at, PAYLOAD),
  };
}

describe('a signed event', () => {
  test.each<[string, string | Uint8Array, WebhookHeaders]>([
    ['text, and headers as Node has them', PAYLOAD, { ...signed(), 'set-cookie': ['a', 'b'] }],
    ['bytes, and headers as fetch has them', new TextEncoder().encode(PAYLOAD), new Headers(signed())],
    ['a Buffer', Buffer.from(PAYLOAD), signed()],
  ])('is read from %s', (_what, payload, headers) => {
    const event = verifyWebhook(payload, headers, SECRET);
    expect(event).toEqual(EVENT);
    // `type` determines the type of `data`.
    if (event.type === 'video.deleted') expect(event.data.status satisfies 'deleted').toBe('deleted');
  });

  test('can have a second signature during a rotation of the secret', () => {
    const [first, second] = [signed({ secret: OTHER_SECRET }), signed()];
    const both = `${first['webhook-signature']} ${second['webhook-signature']}`;
    expect(verifyWebhook(PAYLOAD, { ...second, 'webhook-signature': both }, SECRET)).toEqual(EVENT);
  });
});

describe('an event is refused', () => {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000);
  test.each<[string, string, WebhookHeaders]>([
    ['with another body', PAYLOAD.replace('deleted', 'ready'), signed()],
    ['signed with another secret', PAYLOAD, signed({ secret: OTHER_SECRET })],
    ['signed six minutes ago', PAYLOAD, signed({ at: ago(6) })],
    ['signed in the future', PAYLOAD, signed({ at: ago(-6) })],
    ['under another id', PAYLOAD, { ...signed(), 'webhook-id': 'evt_another' }],
    ['without a signature', PAYLOAD, { ...signed(), 'webhook-signature': undefined }],
    ['without any of the headers', PAYLOAD, new Headers()],
  ])('%s', (_what, payload, headers) => {
    expect(() => verifyWebhook(payload, headers, SECRET)).toThrow(
      expect.objectContaining({ name: 'FramelaneError', code: 'webhook_not_verified' }),
    );
  });
});
