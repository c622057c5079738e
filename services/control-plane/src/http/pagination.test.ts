import { Problem } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';
import type { Request, Response } from 'express';
import { nextLink, pageOf, readCursor, sendPage } from './pagination.ts';

test.each([
  ['https://video.example', '/v1/videos?limit=1', 'https://video.example/v1/videos?limit=1&cursor=c'],
  ['https://example.com/video', '/v1/videos', 'https://example.com/video/v1/videos?cursor=c'],
  ['https://video.example', '/v1/videos?cursor=b', 'https://video.example/v1/videos?cursor=c'],
])('the link to the next page, at %s after %s', (publicUrl, originalUrl, next) => {
  expect(nextLink(publicUrl, originalUrl, 'c')).toBe(`<${next}>; rel="next"`);
});

const cursor = (content: unknown) => Buffer.from(JSON.stringify(content)).toString('base64url');
const TIME = '2026-11-21T09:00:00.000Z';

test('a cursor encodes a position', () => {
  const position = { createdAt: new Date(TIME), id: 'vid_1' };
  expect(readCursor(cursor([TIME, 'vid_1']))).toEqual(position);
  const request = (query: unknown) => ({ query }) as Request;
  expect(pageOf(request({ limit: 5, cursor: cursor([TIME, 'vid_1']) }))).toEqual({
    limit: 5,
    after: position,
  });
  expect(pageOf(request({ limit: 5 }))).toEqual({ limit: 5, after: undefined });
});

test.each([
  ['no base64', '%'],
  ['no JSON', Buffer.from('x').toString('base64url')],
  ['no time', cursor(['yesterday', 'vid_1'])],
  ['no id', cursor([TIME])],
  ['an empty id', cursor([TIME, ''])],
  ['an id that is too long', cursor([TIME, 'v'.repeat(65)])],
  ['more before the id', cursor([TIME, ' vid_1'])],
  ['more after the id', cursor([TIME, 'vid_1 '])],
])('a cursor with %s is invalid', (_, text) => {
  expect(() => readCursor(text)).toThrow(Problem);
  expect(() => readCursor(text)).toThrow(/query\/cursor is not a valid cursor/);
});

test('a page has a link to the next one, if there is one', () => {
  const send = (nextCursor: string | null) => {
    const sent: Record<string, unknown> = {};
    const res = {
      set: (name: string, value: string) => {
        sent[name] = value;
      },
      json: (body: unknown) => {
        sent.body = body;
      },
    };
    const page = { data: [1], nextCursor, hasMore: nextCursor !== null };
    sendPage(
      { originalUrl: '/v1/videos' } as Request,
      res as unknown as Response,
      'https://video.example',
      page,
    );
    return sent;
  };
  expect(send('c')).toEqual({
    Link: '<https://video.example/v1/videos?cursor=c>; rel="next"',
    body: { data: [1], nextCursor: 'c', hasMore: true },
  });
  expect(send(null)).toEqual({ body: { data: [1], nextCursor: null, hasMore: false } });
});
