import { ConnectionError } from '@framelane/client';
import { readOpenApiDocument } from '@framelane/openapi-tools/document';
import { describe, expect, test } from '@jest/globals';
import type { ApiDocument } from './api-document.ts';
import { resolved } from './api-document.ts';
import { apiTools } from './api-tools.ts';
import { boundedText, LONGEST_RESULT } from './bounded-text.ts';
import { DocsPages, linkedPages, pageName } from './docs-pages.ts';
import { chosenTools } from './mcp-command.ts';

const document = readOpenApiDocument() as unknown as ApiDocument;
const ALL = [
  'videos:read',
  'videos:write',
  'webhooks:read',
  'webhooks:write',
  'api_keys:read',
  'api_keys:write',
  'usage:read',
];
const tools = apiTools(document, ALL);
const named = (name: string) => tools.find((tool) => tool.name === name);

describe('the tools of the API', () => {
  test('that read are these', () => {
    expect(tools.flatMap(({ name, reads }) => (reads ? name : [])).toSorted()).toEqual([
      ...[
        'get_captions',
        'get_chapters',
        'get_chapters_file',
        'get_usage',
        'get_video',
        'get_video_timeline',
        'get_watermark',
      ],
      ...[
        'get_webhook',
        'get_webhook_delivery',
        'get_whoami',
        'list_api_keys',
        'list_captions',
        'list_console_sessions',
      ],
      ...[
        'list_downloads',
        'list_events',
        'list_tags',
        'list_videos',
        'list_watermarks',
        'list_webhook_deliveries',
        'list_webhooks',
      ],
    ]);
  });

  test.each([
    'create_api_key',
    'create_playback_token',
    'create_upload_ticket',
    'create_webhook',
    'rotate_webhook_secret',
    'create_console_session',
  ])('never return a secret: there is no %s', (name) => {
    expect(named(name)).toBeUndefined();
  });

  test.each([
    'get_video_source',
    'get_watermark_image',
    'set_poster',
    'create_watermark',
    'get_master_playlist',
    'upload_file',
  ])('transfer no files: there is no %s', (name) => {
    expect(named(name)).toBeUndefined();
  });

  test('are those that the key may call', () => {
    const names = apiTools(document, ['videos:read']).map(({ name }) => name);
    expect(names).toContain('list_videos');
    expect(names).toContain('get_whoami');
    expect(names).not.toContain('update_video');
    expect(names).not.toContain('list_webhooks');
    // It needs webhooks:read as well.
    expect(names).not.toContain('list_events');
  });

  test('have the parameters of the contract as arguments', () => {
    expect(named('get_captions')).toMatchObject({
      method: 'GET',
      path: '/videos/{id}/captions/{language}',
      pathNames: ['id', 'language'],
      inputSchema: { required: ['id', 'language'] },
    });
    const list = named('list_videos');
    expect(list?.queryNames).toEqual(expect.arrayContaining(['status', 'q', 'limit', 'cursor']));
    expect(list?.inputSchema.properties.limit).toMatchObject({ type: 'integer', maximum: 100 });
    // Headers are the business of the client.
    expect(list?.inputSchema.properties).not.toHaveProperty('X-Svc-Workspace');
    expect(named('update_video')).toMatchObject({
      bodyType: 'application/json',
      inputSchema: { required: ['id', 'body'] },
    });
    expect(named('set_captions')).toMatchObject({ bodyType: 'text/vtt' });
  });

  test('need nothing outside of their schemas', () => {
    expect(JSON.stringify(tools)).not.toMatch(/"\$ref"|"x-/);
  });

  test('that write are there only by name', () => {
    expect(chosenTools(tools, []).every(({ reads }) => reads)).toBe(true);
    const some = chosenTools(tools, ['update_video']);
    expect(some.flatMap(({ name, reads }) => (reads ? [] : name))).toEqual(['update_video']);
    expect(() => chosenTools(tools, ['get_video'])).toThrow(
      /no.*allow a tool "get_video" that writes\. It allows: .*update_video/,
    );
    expect(() => chosenTools(apiTools(document, []), ['update_video'])).toThrow('It allows none.');
  });
});

test('a schema that contains itself ends', () => {
  const recursive = { paths: {}, components: { A: { items: { $ref: '#/components/A' }, 'x-note': 1 } } };
  expect(resolved(recursive, { $ref: '#/components/A' })).toEqual({ items: {} });
  expect(resolved(recursive, { $ref: '#/components/none/at/all' })).toEqual({});
});

test('a long result is cut, and says so', () => {
  expect(boundedText('a'.repeat(LONGEST_RESULT))).toHaveLength(LONGEST_RESULT);
  expect(boundedText(`${'a'.repeat(LONGEST_RESULT)}bc`)).toMatch(/a\n\[2 more characters were left out\./);
});

test('pages are the Markdown files of the index, fetched from this installation', () => {
  const index = [
    '# Framelane',
    '- [Uploads](https://public.test/docs/uploads.md#a): how to send files',
    '- [Again](https://public.test/docs/uploads.md)',
    '- [ADR](./adr/0001-x.md)',
    '- [Elsewhere](https://other.test/page.html), [Up](https://other.test/docs/../secret.md), [Bad](http://[)',
  ].join('\n');
  expect(linkedPages(index, 'http://localhost:8080/docs/')).toEqual([
    { name: 'uploads', title: 'Uploads', url: 'http://localhost:8080/docs/uploads.md' },
    { name: 'adr/0001-x', title: 'ADR', url: 'http://localhost:8080/docs/adr/0001-x.md' },
  ]);
});

test.each([
  'uploads',
  'uploads.md',
  'uploads#limits',
  '/docs/uploads',
  'https://public.test/sub/docs/uploads.md#limits',
])('a page is found by its name and by links to it: %s', (link) => {
  expect(pageName(link)).toBe('uploads');
});

test('an installation that does not answer is a connection error, which is explained', async () => {
  // Nothing can listen on port 0.
  const docs = new DocsPages('http://127.0.0.1:0/v1', new AbortController().signal);
  await expect(docs.all()).rejects.toThrow(ConnectionError);
});
