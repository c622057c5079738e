import { text } from 'node:stream/consumers';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { FakeS3 } from '@framelane/test-kit/fake-s3';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { checkedRequest } from '../http/checked-request.ts';
import type { LibraryItem } from '../library-item.ts';
import { readLocation, s3Source } from './s3.ts';

const VARIABLES = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'eu-central-1' };
const before = { ...process.env };

let fake: FakeS3;
beforeAll(async () => {
  fake = await FakeS3.start();
});
afterAll(() => fake.stop());
beforeEach(() => {
  Object.assign(process.env, VARIABLES);
  fake.reset();
});
afterEach(() => {
  for (const name of Object.keys(VARIABLES))
    if (before[name] === undefined) delete process.env[name];
    else process.env[name] = before[name];
});

async function put(objects: Record<string, string | Buffer>): Promise<void> {
  const client = new S3Client({ endpoint: fake.endpoint, forcePathStyle: true });
  for (const [Key, Body] of Object.entries(objects))
    await client.send(new PutObjectCommand({ Bucket: fake.bucket, Key, Body }));
}

async function open(
  location = `s3://${fake.bucket}/films/`,
  { endpoint, ...context }: { endpoint?: string; env?: Record<string, string>; signal?: AbortSignal } = {
    endpoint: fake.endpoint,
  },
) {
  return s3Source({ env: {}, signal: AbortSignal.timeout(60_000), ...context }, { location, endpoint });
}

async function read(location?: string): Promise<LibraryItem[]> {
  return (await Array.fromAsync((await open(location)).items())) as LibraryItem[];
}

test('objects below the prefix are videos, with the sidecars in their folder', async () => {
  fake.pageSize = 2;
  await put({
    'films/a.mp4': 'film',
    'films/a.json': '{"title": "The film"}',
    'films/a.en.vtt': 'WEBVTT',
    'films/2024/b.mov': 'other',
    'films/.cache/c.mp4': 'hidden',
    'other/d.mp4': 'other',
  });
  const items = await read();
  expect(items.map(({ id, title, size }) => [id, title, size])).toEqual([
    ['s3:bucket/films/2024/b.mov', 'b', 5],
    ['s3:bucket/films/a.mp4', 'The film', 4],
  ]);
  expect(await items[1]?.details()).toMatchObject({ captions: [{ language: 'en', text: 'WEBVTT' }] });
});

test('the file is at a signed URL of the endpoint, which may be in a private network', async () => {
  await put({ 'films/a b.mp4': 'film' });
  const [item] = await read();
  const media = await item?.media();
  const url = media && 'url' in media ? media.url : '';
  expect(new URL(url).searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
  const { trustedHosts } = await open();
  const response = await checkedRequest(url, { trustedHosts, signal: AbortSignal.timeout(60_000) });
  expect(await text(response)).toBe('film');
});

test('a sidecar that cannot be read is reported for its video', async () => {
  await put({ 'films/a.mp4': 'a', 'films/a.json': 'x', 'films/b.mp4': 'b' });
  expect(await read()).toMatchObject([
    { name: 'films/a.mp4', error: { message: expect.stringContaining('a.json is not JSON') } },
    { name: 'films/b.mp4' },
  ]);
});

test('a byte order mark is no part of a text; a text that is not UTF-8 is reported, not changed', async () => {
  await put({
    'films/a.mp4': 'a',
    'films/a.json': '\uFEFF{"title": "With a mark"}',
    'films/a.de.srt': Buffer.from('Gr\xFC\xDFe', 'latin1'),
  });
  const [item] = await read();
  expect(item?.title).toBe('With a mark');
  expect((await item?.details())?.warnings).toEqual([
    expect.stringContaining('films/a.de.srt is not UTF-8 text.'),
  ]);
});

test.each(['AWS_ENDPOINT_URL_S3', 'AWS_ENDPOINT_URL'])(
  'the endpoint of %s is that of --endpoint',
  async (name) => {
    await put({ 'films/a.mp4': 'a' });
    const source = await open(undefined, { env: { [name]: fake.endpoint } });
    expect(await Array.fromAsync(source.items())).toMatchObject([{ name: 'films/a.mp4' }]);
    expect([...source.trustedHosts]).toEqual([new URL(fake.endpoint).hostname]);
  },
);

test.each(['127.0.0.1:9000', 'minio', 'ftp://minio'])('the endpoint %s is no URL', async (endpoint) => {
  await expect(open(undefined, { endpoint })).rejects.toThrow('is not the URL of an S3 server');
});

test('Ctrl-C ends the list', async () => {
  fake.pageSize = 1;
  await put({ 'films/a.mp4': 'a', 'films/b.mp4': 'b' });
  const controller = new AbortController();
  const source = await open(undefined, { endpoint: fake.endpoint, signal: controller.signal });
  controller.abort();
  await expect(Array.fromAsync(source.items())).rejects.toMatchObject({ name: 'AbortError' });
});

test('an error names what to check', async () => {
  fake.inject('ListObjects', 'forbidden');
  await expect(read()).rejects.toThrow('The credentials need s3:ListBucket and s3:GetObject.');
});

test.each(['bucket/prefix', 's3://', 's3://UPPER/x', 'https://bucket.s3.amazonaws.com/x'])(
  '%s is no place',
  (at) => {
    expect(() => readLocation(at)).toThrow('Use one such as s3://bucket/prefix.');
  },
);
