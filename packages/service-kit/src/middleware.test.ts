import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import express from 'express';
import { closeServer, listen } from './http-server.ts';
import { createLogger } from './logger.ts';
import { problemHandler, refuseUnstorablePath, requestId, routeNotFound } from './middleware.ts';
import { Problem, unavailable } from './problem.ts';

const app = express();
app.use(requestId, refuseUnstorablePath);
app.get('/files/:id', (req, res) => void res.json(req.params));
app.get('/videos', () => {
  throw new Problem('method_not_allowed', 'Use GET.', { headers: { Allow: 'GET' }, extra: { maxBytes: 4 } });
});
app.get('/crash', async () => {
  throw new Error('password is hunter2');
});
app.get('/cut', async (_req, res) => {
  res.write('half of');
  throw new Error('the rest is missing');
});
app.get('/xml', () => {
  throw new Problem('format_not_supported', 'The only format is json.');
});
app.get('/full', () => {
  throw unavailable('This engine is full. Retry later.');
});
const logger = createLogger({ service: 'test', level: 'silent' });
app.use(routeNotFound, problemHandler(logger, 'https://video.example.com'));
const server = createServer(app);
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' })}`;
});
afterAll(() => closeServer(server, 0));

test('renders a Problem as in RFC 9457, with its headers and extra members', async () => {
  const response = await fetch(`${url}/videos?secret=1`);
  expect(response.headers.get('content-type')).toContain('application/problem+json');
  expect(response.headers.get('allow')).toBe('GET');
  expect(await response.json()).toEqual({
    type: 'https://video.example.com/docs/errors/method_not_allowed',
    title: 'Method Not Allowed',
    status: 405,
    detail: 'Use GET.',
    instance: '/videos',
    code: 'method_not_allowed',
    requestId: response.headers.get('x-request-id'),
    maxBytes: 4,
  });
});

test('renders any other error as a 500 without its cause, and logs it', async () => {
  const logged = jest.spyOn(logger, 'error');
  const response = await fetch(`${url}/crash`);
  expect(response.status).toBe(500);
  expect(await response.text()).not.toContain('hunter2');
  expect(logged).toHaveBeenCalledTimes(1);
  logged.mockRestore();
});

test('does not log a refusal as an error', async () => {
  const errors = jest.spyOn(logger, 'error');
  const warnings = jest.spyOn(logger, 'warn');
  expect((await fetch(`${url}/xml`)).status).toBe(501);
  expect(warnings).not.toHaveBeenCalled();
  expect((await fetch(`${url}/full`)).status).toBe(503);
  const line = { path: '/full', status: 503, detail: 'This engine is full. Retry later.' };
  expect(warnings.mock.calls).toEqual([['request.refused', expect.objectContaining(line)]]);
  expect(errors).not.toHaveBeenCalled();
});

test('responds with 404 when no route matches', async () => {
  const response = await fetch(`${url}/nowhere`);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    404,
    'route_not_found',
  ]);
});

test.each(['%00', 'a%00b', '%ff', '%ed%a0%80', '%zz'])('responds with 404 for %s in a path', async (id) => {
  const response = await fetch(`${url}/files/${id}`);
  expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([
    404,
    'route_not_found',
  ]);
});

test('leaves other escapes in a path to the route', async () => {
  expect(await (await fetch(`${url}/files/%2500%F0%9F%8E%AC`)).json()).toEqual({ id: '%00🎬' });
});

test('aborts the connection when a handler fails after the response has started, and prints nothing', async () => {
  const printed = jest.spyOn(console, 'error').mockImplementation(() => {});
  app.set('env', 'production');
  const response = await fetch(`${url}/cut`);
  await expect(response.text()).rejects.toThrow();
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});
