import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';
import { Registry } from 'prom-client';
import { closeServer, listen } from './http-server.ts';
import { createLogger } from './logger.ts';
import { countRequests } from './metrics.ts';
import { problemHandler, routeNotFound } from './middleware.ts';
import { Problem } from './problem.ts';

const registry = new Registry();
const app = express();
app.use(countRequests(registry, (req) => req.route?.path));
app.get('/cups/:id', (_req, res) => void res.json({}));
app.get('/videos', () => {
  throw new Problem('video_not_found', 'No such video.');
});
app.get('/never', (req) => void req.destroy());
app.use(
  routeNotFound,
  problemHandler(createLogger({ service: 'test', level: 'silent' }), 'https://video.example.com'),
);
const server = createServer(app);
let url: string;

beforeAll(async () => {
  url = `http://127.0.0.1:${await listen(server, { host: '127.0.0.1', port: 0, variable: 'PORT' })}`;
});
afterAll(() => closeServer(server, 0));

test('counts requests by route, method and status, and problems by code', async () => {
  await fetch(`${url}/cups/1`);
  await fetch(`${url}/cups/2?size=large`, { method: 'HEAD' });
  await fetch(`${url}/videos`);
  await fetch(`${url}/nowhere/1`, { method: 'PROPFIND' });
  await fetch(`${url}/nowhere/2`, { method: 'REPORT' });
  await expect(fetch(`${url}/never`)).rejects.toThrow();
  // A request counts once its response has been sent.
  await closeServer(server, 1000);

  const lines = (await registry.metrics()).split('\n').filter((line) => /_total\{|_count\{/.test(line));
  expect(lines.sort()).toEqual([
    'framelane_http_problems_total{code="route_not_found"} 2',
    'framelane_http_problems_total{code="video_not_found"} 1',
    'framelane_http_request_duration_seconds_count{method="GET",route="/cups/:id"} 1',
    'framelane_http_request_duration_seconds_count{method="GET",route="/never"} 1',
    'framelane_http_request_duration_seconds_count{method="GET",route="/videos"} 1',
    'framelane_http_request_duration_seconds_count{method="HEAD",route="/cups/:id"} 1',
    'framelane_http_request_duration_seconds_count{method="other",route="unmatched"} 2',
    'framelane_http_requests_total{method="GET",route="/cups/:id",status="200"} 1',
    'framelane_http_requests_total{method="GET",route="/never",status="aborted"} 1',
    'framelane_http_requests_total{method="GET",route="/videos",status="404"} 1',
    'framelane_http_requests_total{method="HEAD",route="/cups/:id",status="200"} 1',
    'framelane_http_requests_total{method="other",route="unmatched",status="404"} 2',
  ]);
});
