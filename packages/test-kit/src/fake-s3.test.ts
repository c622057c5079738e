import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FakeS3 } from './fake-s3.ts';

let s3: FakeS3;
beforeAll(async () => {
  s3 = await FakeS3.start();
});
afterAll(() => s3.stop());

test('a read of a small object breaks after half of its bytes', async () => {
  const url = `${s3.endpoint}/${s3.bucket}/small`;
  await fetch(url, { method: 'PUT', body: 'abcdefgh' });
  s3.inject('GetObject', 'cut-halfway', 1);
  const response = await fetch(url);
  expect(response.headers.get('content-length')).toBe('8');
  await expect(response.text()).rejects.toThrow();
  expect(await (await fetch(url)).text()).toBe('abcdefgh');
});
