import { EventEmitter } from 'node:events';
import { ServerResponse } from 'node:http';
import { Problem } from '@framelane/service-kit/problem';
import { expect, test } from '@jest/globals';
import type { Request } from 'express';
import { ConcurrencyLimit } from './concurrency-limit.ts';

/** A request of a workspace, and its response. */
function requestOf(workspace: string | undefined, authorization?: string) {
  const headers: Record<string, string | undefined> = { 'x-svc-workspace': workspace, authorization };
  const incoming = Object.assign(new EventEmitter(), { method: 'GET', get: (name: string) => headers[name] });
  const res = new ServerResponse(incoming as unknown as Request);
  return Object.assign(incoming, { res }) as unknown as Request & { res: ServerResponse };
}

/** Begins a request, and returns its response if it is admitted. */
function enter(limit: ConcurrencyLimit, workspace: string | undefined, authorization?: string) {
  const req = requestOf(workspace, authorization);
  limit.enter(req);
  return req.res;
}

const isRefused = (limit: ConcurrencyLimit, workspace: string) => {
  try {
    enter(limit, workspace).emit('close');
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    expect(error).toMatchObject({
      status: 429,
      code: 'rate_limited',
      options: { headers: { 'Retry-After': '1' } },
    });
    return true;
  }
};

test('up to the limit, one workspace may use it all', () => {
  const limit = new ConcurrencyLimit(4);
  for (let count = 0; count < 4; count += 1) enter(limit, 'busy');
  expect(isRefused(limit, 'busy')).toBe(true);
});

test('beyond the limit, each workspace has an equal share, and at least one request', () => {
  const limit = new ConcurrencyLimit(4);
  for (let count = 0; count < 4; count += 1) enter(limit, 'busy');
  // Half of 4 for each of two workspaces.
  enter(limit, 'a');
  enter(limit, 'a');
  expect(isRefused(limit, 'a')).toBe(true);
  // One for each of three and more.
  for (const workspace of ['b', 'c', 'd', 'e']) {
    enter(limit, workspace);
    expect(isRefused(limit, workspace)).toBe(true);
  }
  expect(isRefused(limit, 'busy')).toBe(true);
});

test('a request counts until the head of its response or until its connection closes, and only once', () => {
  const limit = new ConcurrencyLimit(2);
  const [first, second] = [enter(limit, 'a'), enter(limit, 'a')];
  expect(isRefused(limit, 'a')).toBe(true);
  first.writeHead(200);
  // The body is still being sent.
  enter(limit, 'a');
  expect(isRefused(limit, 'a')).toBe(true);
  first.emit('close');
  expect(isRefused(limit, 'a')).toBe(true);
  second.emit('close');
  expect(isRefused(limit, 'a')).toBe(false);
});

test('requests without a workspace are told apart by their credentials', () => {
  const limit = new ConcurrencyLimit(1);
  enter(limit, undefined, 'Bearer one');
  expect(() => enter(limit, undefined, 'Bearer one')).toThrow(Problem);
  enter(limit, undefined, 'Bearer two');
  enter(limit, undefined);
  expect(() => enter(limit, undefined)).toThrow(Problem);
});
