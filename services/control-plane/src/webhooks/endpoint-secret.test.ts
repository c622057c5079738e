import { expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { newWebhookSecret, showWebhookSecret, signedHeaders } from './endpoint-secret.ts';

const message = (sentAt = new Date()) => ({ id: 'evt_1', sentAt, body: '{"title":"Grüße, 世界"}' });

test('the library of Standard Webhooks verifies what is signed', () => {
  const secret = newWebhookSecret();
  const verifier = new Verifier(showWebhookSecret(secret));
  const headers = signedHeaders(message(), [secret]);
  expect(verifier.verify(message().body, headers)).toEqual({ title: 'Grüße, 世界' });
  expect(() => verifier.verify(`${message().body} `, headers)).toThrow();
  expect(() => verifier.verify(message().body, { ...headers, 'webhook-id': 'evt_2' })).toThrow();
  const old = signedHeaders(message(new Date(Date.now() - 600_000)), [secret]);
  expect(() => verifier.verify(message().body, old)).toThrow(/old/);
});

test('the library signs the same', () => {
  const secret = newWebhookSecret();
  const { id, sentAt, body } = message();
  expect(signedHeaders(message(sentAt), [secret])['webhook-signature']).toBe(
    new Verifier(showWebhookSecret(secret)).sign(id, sentAt, body),
  );
});

test('several secrets make several signatures, and one that fits is enough', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()];
  const headers = signedHeaders(message(), secrets);
  expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
  for (const secret of secrets) new Verifier(showWebhookSecret(secret)).verify(message().body, headers);
  const other = new Verifier(showWebhookSecret(newWebhookSecret()));
  expect(() => other.verify(message().body, headers)).toThrow();
});

test('a secret is as long as the standard asks for, and never the same', () => {
  expect(showWebhookSecret(newWebhookSecret())).toMatch(/^whsec_[0-9A-Za-z+/]{43}=$/);
  expect(newWebhookSecret()).not.toEqual(newWebhookSecret());
});
