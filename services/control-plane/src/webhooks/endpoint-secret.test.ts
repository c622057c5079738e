import { expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { formatEndpointSecret, newEndpointSecret, signedHeaders } from './endpoint-secret.ts';

const message = (sentAt = new Date()) => ({ id: 'evt_1', sentAt, body: '{"title":"Grüße, 世界"}' });

test('the published test vector of Standard Webhooks', () => {
  const headers = signedHeaders(
    {
      id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      sentAt: new Date(1_614_265_330_000),
      body: '{"test": 2432232314}',
    },
    [Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')],
  );
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('signed headers verify, and changed messages and old timestamps do not', () => {
  const secret = newEndpointSecret();
  const verifier = new Verifier(formatEndpointSecret(secret));
  const headers = signedHeaders(message(), [secret]);
  expect(verifier.verify(message().body, headers)).toEqual({ title: 'Grüße, 世界' });
  expect(() => verifier.verify(`${message().body} `, headers)).toThrow();
  expect(() => verifier.verify(message().body, { ...headers, 'webhook-id': 'evt_2' })).toThrow();
  const old = signedHeaders(message(new Date(Date.now() - 600_000)), [secret]);
  expect(() => verifier.verify(message().body, old)).toThrow(/old/);
});

test('each secret adds a signature, and one that matches is enough', () => {
  const secrets = [newEndpointSecret(), newEndpointSecret()];
  const headers = signedHeaders(message(), secrets);
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
  for (const secret of secrets) new Verifier(formatEndpointSecret(secret)).verify(message().body, headers);
  const other = new Verifier(formatEndpointSecret(newEndpointSecret()));
  expect(() => other.verify(message().body, headers)).toThrow();
});

test('secrets have the length that the standard asks for, and differ', () => {
  expect(formatEndpointSecret(newEndpointSecret())).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
  expect(newEndpointSecret()).not.toEqual(newEndpointSecret());
});
