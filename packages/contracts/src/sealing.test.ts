import { expect, test } from '@jest/globals';
import { CompactEncrypt } from 'jose';
import { SealingKeys } from './sealing.ts';

const [first, second, third] = [1, 2, 3].map((fill) => Buffer.alloc(32, fill)) as [Buffer, Buffer, Buffer];
const VALUE = Buffer.from('sixteen bytes ok');

test('a sealed value opens while its secret is current or previous, and with no other secret', async () => {
  const sealed = await new SealingKeys(first).seal(VALUE);
  expect(await new SealingKeys(first).open(sealed)).toEqual(VALUE);
  expect(await new SealingKeys(third, [second, first]).open(sealed)).toEqual(VALUE);
  await expect(new SealingKeys(second, [third]).open(sealed)).rejects.toThrow('not configured');
});

test('the header identifies the secret and reveals none of it', async () => {
  const keys = new SealingKeys(first, [second]);
  const sealed = await keys.seal(VALUE);
  expect(sealed.split('.')[0]).toBe(keys.header);
  expect(new SealingKeys(second, [first]).header).not.toBe(keys.header);
  const { kid } = JSON.parse(Buffer.from(keys.header, 'base64url').toString());
  expect(Buffer.from(kid, 'base64url')).toHaveLength(8);
  expect(first.includes(Buffer.from(kid, 'base64url'))).toBe(false);
});

test('an altered value does not open', async () => {
  const keys = new SealingKeys(first);
  const parts = (await keys.seal(VALUE)).split('.');
  parts[3] = Buffer.from('another cipher..').toString('base64url');
  await expect(keys.open(parts.join('.'))).rejects.toThrow('altered');
});

test.each([
  ['key management', { alg: 'A256KW' }],
  ['content encryption', { enc: 'A128CBC-HS256' }],
])('a value sealed with another algorithm for %s does not open', async (_, changes) => {
  const keys = new SealingKeys(first);
  const header = JSON.parse(Buffer.from(keys.header, 'base64url').toString());
  const jwe = new CompactEncrypt(VALUE).setProtectedHeader({ ...header, ...changes });
  await expect(keys.open(await jwe.encrypt(first))).rejects.toThrow('altered');
});

test('each purpose has its own keys, also for previous secrets', async () => {
  const sealed = await new SealingKeys(first).derive('one').seal(VALUE);
  const keys = new SealingKeys(second, [first]);
  expect(await keys.derive('one').open(sealed)).toEqual(VALUE);
  await expect(keys.derive('other').open(sealed)).rejects.toThrow();
  await expect(keys.open(sealed)).rejects.toThrow();
});

test('values that an earlier version sealed still open', async () => {
  const header = 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoiLTUyY2ZKcF93WFUifQ';
  const sealed = `${header}..wCSk7iM9JPk8WBkr.2ej1PnL4nuNbf3F1dQaoLA.duF_p1G5In8dMM5weXa-Qg`;
  const keys = new SealingKeys(first).derive('one');
  expect(keys.header).toBe(header);
  expect(await keys.open(sealed)).toEqual(VALUE);
});

test('a value without the id of a secret does not open', async () => {
  const [, ...rest] = (await new SealingKeys(first).seal(VALUE)).split('.');
  const header = Buffer.from(JSON.stringify({ alg: 'dir', enc: 'A256GCM' })).toString('base64url');
  await expect(new SealingKeys(first).open([header, ...rest].join('.'))).rejects.toThrow('not configured');
});
