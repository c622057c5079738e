import { EventEmitter } from 'node:events';
import { ServerResponse } from 'node:http';
import { Problem } from '@framelane/service-kit/problem';
import { afterEach, expect, jest, test } from '@jest/globals';
import type { Request } from 'express';
import { ConcurrencyLimit } from './concurrency-limit.ts';

afterEach(() => {
  jest.useRealTimers();
});

/** A request from an address, and its response. */
function requestFrom(ip: string) {
  const incoming = Object.assign(new EventEmitter(), { method: 'GET', ip, socket: {} });
  const res = new ServerResponse(incoming as unknown as Request);
  return Object.assign(incoming, { res }) as unknown as Request & { res: ServerResponse };
}

/** Begins a request with a credential of this workspace, and returns its response if it is admitted. */
function enter(limit: ConcurrencyLimit, workspace: string, credential = workspace) {
  const req = requestFrom('203.0.113.1');
  limit.enter(req, credential)(workspace);
  return req.res;
}

/** Whether another request would be refused. */
function isRefused(limit: ConcurrencyLimit, credential: string, ip = '203.0.113.1') {
  const req = requestFrom(ip);
  try {
    limit.enter(req, credential);
    req.res.writeHead(200);
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
}

/** A limit whose workspaces are known. */
function limitOf(capacity: number, ...workspaces: string[]) {
  const limit = new ConcurrencyLimit(capacity);
  for (const workspace of workspaces) enter(limit, workspace).writeHead(200);
  return limit;
}

test('up to the limit, one workspace may use it all', () => {
  const limit = limitOf(4, 'busy');
  for (let count = 0; count < 4; count += 1) enter(limit, 'busy');
  expect(isRefused(limit, 'busy')).toBe(true);
});

test('beyond the limit, each workspace has an equal share, and at least one request', () => {
  const limit = limitOf(4, 'busy', 'a', 'b', 'c', 'd', 'e');
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

test('all credentials of a workspace count together', () => {
  const limit = limitOf(2, 'busy');
  enter(limit, 'busy');
  enter(limit, 'busy', 'another key').writeHead(200);
  enter(limit, 'busy');
  expect(isRefused(limit, 'another key')).toBe(true);
});

test('credentials that were not verified count for the network of their client', () => {
  const limit = limitOf(1, 'known');
  limit.enter(requestFrom('203.0.113.1'), 'guess 1');
  expect(isRefused(limit, 'guess 2')).toBe(true);
  expect(isRefused(limit, 'guess 2', '203.0.113.2')).toBe(false);
  expect(isRefused(limit, 'known')).toBe(false);
});

test('a request counts until the head of its response, and only once', () => {
  const limit = limitOf(2, 'a');
  const [first, second] = [enter(limit, 'a'), enter(limit, 'a')];
  first.writeHead(200);
  // The body is still being sent.
  enter(limit, 'a');
  expect(isRefused(limit, 'a')).toBe(true);
  first.end();
  expect(isRefused(limit, 'a')).toBe(true);
  second.writeHead(204);
  expect(isRefused(limit, 'a')).toBe(false);
});

test('a request of a client that has disconnected counts until its handler ends, and not for ever', () => {
  jest.useFakeTimers();
  const limit = limitOf(1, 'a');
  const handled = enter(limit, 'a');
  handled.emit('close');
  expect(isRefused(limit, 'a')).toBe(true);
  handled.end('too late');
  expect(isRefused(limit, 'a')).toBe(false);
  enter(limit, 'a').emit('close');
  expect(isRefused(limit, 'a')).toBe(true);
  jest.advanceTimersByTime(10_000);
  expect(isRefused(limit, 'a')).toBe(false);
});

test('a complete response keeps no timer', () => {
  const timer = jest.spyOn(globalThis, 'setTimeout');
  const res = enter(new ConcurrencyLimit(1), 'a');
  res.writeHead(200);
  res.emit('close');
  expect(timer).not.toHaveBeenCalled();
  timer.mockRestore();
});

test('a request of a client that had disconnected before does not count', () => {
  const limit = limitOf(1, 'a');
  const req = requestFrom('203.0.113.1');
  req.res.destroy();
  limit.enter(req, 'a')('a');
  expect(isRefused(limit, 'a')).toBe(false);
});
