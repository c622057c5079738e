import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { curlCommand } from './curl-command.ts';

/** The arguments that a shell gives to curl. */
function argumentsOf(command: string): string[] {
  const script = `curl() { for each in "$@"; do printf '%s\\0' "$each"; done; }\n${command}`;
  const output = execFileSync('sh', ['-c', script], {
    env: { KEY: 'k', WORKSPACE: 'ws_1' },
    encoding: 'utf8',
  });
  return output.split('\0').slice(0, -1);
}

const HEADERS = ['-H', 'Authorization: Bearer k', '-H', 'X-Svc-Workspace: ws_1'];

test('a read', () => {
  const query = { status: ['ready', 'failed'], limit: 10, '[left out]': 1 };
  const request = { method: 'GET', path: '/v1/videos', query, requestBody: null };
  expect(argumentsOf(curlCommand(request, 'https://x.example/v1'))).toEqual([
    'https://x.example/v1/videos?status=ready&status=failed&limit=10',
    ...HEADERS,
  ]);
});

test('a change whose path and body would end a quotation', () => {
  const body = { title: `it's $(touch /tmp/x) \`id\` "quoted"\n` };
  const request = { method: 'PATCH', path: `/v1/videos/a'b`, query: {}, requestBody: body };
  expect(argumentsOf(curlCommand(request, 'https://x.example/base/v1'))).toEqual([
    ...['-X', 'PATCH', `https://x.example/base/v1/videos/a'b`],
    ...HEADERS,
    ...['-H', 'Content-Type: application/json', '--data', JSON.stringify(body)],
  ]);
});

test('a request for the headers', () => {
  const request = { method: 'HEAD', path: '/v1/videos', query: {}, requestBody: null };
  expect(argumentsOf(curlCommand(request, 'https://x.example/v1'))).toEqual([
    ...['--head', 'https://x.example/v1/videos'],
    ...HEADERS,
  ]);
});
