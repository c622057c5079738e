import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type Video } from '@framelane/client';
import { FakeService, type ServiceReply } from '@framelane/test-kit/fake-service';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { CliError } from '../../cli-error.ts';
import type { BrokenItem, LibraryItem, LibrarySource } from '../library-item.ts';
import type { ImportContext } from './import-item.ts';
import { type ImportOptions, importLibrary } from './import-library.ts';

/** The operations of Framelane that an import uses. A file that an engine fetches arrives with the first poll. */
class FakeFramelane {
  readonly videos = new Map<string, Video>();
  readonly calls: string[] = [];
  /** What happens to the file of a video, by the path of its URL. */
  readonly failures = new Map<string, Video['error']>();
  refusesUploads = false;
  service!: FakeService;
  readonly #tickets = new Map<string, string>();
  #created = 0;

  static async start(): Promise<FakeFramelane> {
    const framelane = new FakeFramelane();
    framelane.service = await FakeService.start({
      'GET /v1/videos': ({ query }) => ({
        body: {
          data: [...framelane.videos.values()].filter(
            ({ environment }) => environment === query.get('environment'),
          ),
          nextCursor: null,
        },
      }),
      'POST /v1/videos/import': ({ body }) => framelane.#create(JSON.parse(body)),
      'POST /v1/videos/upload-ticket': ({ headers, body }) =>
        framelane.#ticket(String(headers['idempotency-key']), JSON.parse(body)),
      'POST /upload': ({ headers }) => framelane.#upload(String(headers['x-upload-token'])),
    });
    return framelane;
  }

  /** The same key returns a ticket for the same video, or says that it accepts no upload any more. */
  #ticket(key: string, { title, metadata }: { title: string; metadata: Video['metadata'] }): ServiceReply {
    const known = this.videos.get(this.#tickets.get(key) ?? '');
    if (known !== undefined && known.status !== 'uploading') {
      const problem = { code: 'upload_ticket_closed', detail: 'Closed.', requestId: 'req_1' };
      return { status: 409, body: problem };
    }
    // A deleted video is in the stored response, too.
    const videoId = this.#tickets.get(key) ?? this.add({ title, metadata }).id;
    this.calls.push(`ticket ${videoId.slice(-1)}`);
    this.#tickets.set(key, videoId);
    return { status: 201, body: { videoId, uploadUrl: `${this.service.url}/upload`, uploadToken: videoId } };
  }

  #upload(videoId: string): ServiceReply {
    this.calls.push(`upload ${videoId.slice(-1)}`);
    if (this.refusesUploads) return { status: 503 };
    Object.assign(this.videos.get(videoId) ?? {}, { status: 'processing', size: 4 });
    return { status: 202, body: { videoId } };
  }

  add(fields: Partial<Video>): Video {
    this.#created += 1;
    const id = `vid_${String(this.#created).padStart(26, '0')}`;
    const video = {
      id,
      environment: 'live',
      status: 'uploading',
      metadata: {},
      error: null,
      import: null,
      size: null,
      ...fields,
    };
    this.videos.set(id, video as Video);
    this.#route(video as Video);
    return video as Video;
  }

  #create({
    url,
    title,
    metadata,
  }: {
    url: string;
    title: string;
    metadata: Video['metadata'];
  }): ServiceReply {
    this.calls.push(`import ${title}`);
    const video = this.add({ title, metadata, import: { url } as Video['import'] });
    return { status: 202, body: video };
  }

  #route(video: Video): void {
    const path = `/v1/videos/${video.id}`;
    this.service.on(`GET ${path}`, () => {
      const error = this.failures.get(new URL(video.import?.url ?? 'http://x/').pathname);
      if (video.status === 'uploading' && error) Object.assign(video, { status: 'failed', error });
      if (video.status === 'uploading' && video.import !== null)
        Object.assign(video, { status: 'processing', size: 1000 });
      return { body: video };
    });
    this.service.on(`PATCH ${path}`, ({ body }) => {
      for (const [name, value] of Object.entries(JSON.parse(body).metadata))
        if (value === null) delete video.metadata[name];
        else video.metadata[name] = String(value);
      return { body: video };
    });
    this.service.on(`DELETE ${path}`, () => {
      this.calls.push(`delete ${video.title}`);
      this.videos.delete(video.id);
      return { status: 204 };
    });
    this.service.on(`PUT ${path}/captions/en`, ({ body }) => {
      this.calls.push(`captions ${video.title}`);
      if (body === 'WEBVTT') return { status: 201, body: {} };
      const errors = [{ field: 'body', code: 'invalid', message: 'Line 1 is no header' }];
      const problem = {
        code: 'invalid_captions',
        detail: 'Line 1 is no header.',
        requestId: 'req_1',
        errors,
      };
      return { status: 400, body: problem };
    });
  }
}

let framelane: FakeFramelane;
let workFolder: string;
beforeEach(async () => {
  framelane = await FakeFramelane.start();
  workFolder = await mkdtemp(join(tmpdir(), 'framelane-work-'));
});
afterEach(async () => {
  await framelane.service[Symbol.asyncDispose]();
  await rm(workFolder, { recursive: true });
});

function item(name: string, fields: Partial<LibraryItem> = {}): LibraryItem {
  return {
    id: `mux:${name}`,
    name,
    title: name,
    filename: `${name}.mp4`,
    size: 500,
    media: async () => ({ url: `https://media.example.com/${name}` }),
    details: async () => ({ captions: [{ language: 'en', text: 'WEBVTT' }], warnings: [] }),
    ...fields,
  };
}

function run(
  items: readonly (LibraryItem | BrokenItem)[] | AsyncGenerator<LibraryItem>,
  options: Partial<ImportOptions> = {},
  context: Partial<ImportContext> = {},
) {
  const source: LibrarySource = {
    name: 'Mux',
    transfer: 'url',
    trustedHosts: new Set(),
    async *items() {
      yield* items;
    },
  };
  const defaults = {
    include: [],
    exclude: [],
    dryRun: false,
    concurrency: 1,
    limit: Number.POSITIVE_INFINITY,
  };
  const baseUrl = `${framelane.service.url}/v1`;
  return importLibrary(
    source,
    {
      ...defaults,
      workspaceId: 'ws_1',
      environment: 'live',
      onBegin: () => {},
      onEntry: () => {},
      ...options,
    },
    {
      client: createClient({ baseUrl, apiKey: 'svc_live_x', workspaceId: 'ws_1', retries: 0 }),
      transfer: 'url',
      trustedHosts: new Set(),
      workFolder,
      wait: false,
      signal: AbortSignal.timeout(60_000),
      pause: async () => {},
      ...context,
    },
  );
}

test('videos are imported once: a second run skips them', async () => {
  const first = await run([item('a'), item('b')]);
  expect(first.report).toMatchObject({ complete: true, counts: { imported: 2, failed: 0 }, bytes: 2000 });
  expect(framelane.calls).toEqual(['import a', 'captions a', 'import b', 'captions b']);
  expect([...framelane.videos.values()].map(({ metadata }) => metadata)).toEqual([
    { importedFrom: 'mux:a' },
    { importedFrom: 'mux:b' },
  ]);
  const second = await run([item('a'), item('b')]);
  expect(second.report.counts).toMatchObject({ imported: 0, skipped: 2 });
  expect(framelane.calls).toHaveLength(4);
});

test('an import that was interrupted is continued with the same video, captions included', async () => {
  framelane.add({
    title: 'a',
    metadata: { importing: 'mux:a' },
    import: { url: 'https://x.example/a' } as Video['import'],
  });
  const { report } = await run([item('a')]);
  expect(report.counts.imported).toBe(1);
  expect(framelane.calls).toEqual(['captions a']);
  expect(framelane.videos.size).toBe(1);
});

test('an upload that never came is replaced by an import of the URL', async () => {
  framelane.add({ title: 'old', metadata: { importing: 'mux:a' } });
  await run([item('a')]);
  expect(framelane.calls).toEqual(['delete old', 'import a', 'captions a']);
});

test('the failure of one video does not stop the others, and is tried again in the next run', async () => {
  framelane.failures.set('/a', { code: 'import_unreachable', message: 'The connection failed.' });
  const broken = { id: 'x', name: 'x', error: new CliError('The response is not as documented.') };
  const denied = item('d', { media: async () => Promise.reject(new CliError('Mux refuses the request.')) });
  const { report } = await run([item('a'), broken, denied, item('c')]);
  expect(report.items.map(({ name, outcome, reason }) => [name, outcome, reason])).toEqual([
    ['a', 'failed', expect.stringMatching(/^The connection failed\. .*--transfer upload/)],
    ['x', 'failed', 'The response is not as documented.'],
    ['d', 'failed', 'Mux refuses the request.'],
    ['c', 'imported', undefined],
  ]);
  framelane.failures.clear();
  framelane.calls.length = 0;
  await run([item('a')]);
  expect(framelane.calls).toEqual(['delete a', 'import a', 'captions a']);
});

test('captions that Framelane refuses are a warning', async () => {
  const details = async () => ({ captions: [{ language: 'en', text: 'x' }], warnings: ['earlier'] });
  const { report } = await run([item('a', { details, warnings: ['known'] })]);
  expect(report.items[0]).toMatchObject({
    outcome: 'imported',
    warnings: ['known', 'earlier', 'The captions en are refused: Line 1 is no header.'],
  });
});

test('a dry run changes nothing and adds up sizes', async () => {
  const { report } = await run([item('a'), item('b', { size: undefined })], { dryRun: true });
  expect(report).toMatchObject({ counts: { planned: 2, imported: 0 }, bytes: 500 });
  expect(framelane.calls).toEqual([]);
});

test('filters and the limit', async () => {
  const names = ['a1', 'a2', 'a3', 'b1'].map((name) => item(name));
  framelane.add({ status: 'ready', metadata: { importedFrom: 'mux:a1' } });
  await run(names, { include: ['a*'], exclude: ['*3'] });
  expect(framelane.calls).toEqual(['import a2', 'captions a2']);
  framelane.calls.length = 0;
  const { report } = await run(names, { limit: 1 });
  expect(framelane.calls).toEqual(['import a3', 'captions a3']);
  expect(report.complete).toBe(true);
});

test('two entries with the same file are imported once', async () => {
  const { report } = await run([item('a'), item('copy', { id: 'mux:a' })]);
  expect(report.items[1]).toMatchObject({ outcome: 'skipped', reason: 'It is the same file as a.' });
});

test('an error of the list ends it, and what was done is reported', async () => {
  const list = (async function* () {
    yield item('a');
    throw new CliError('The list does not end.');
  })();
  const { report, stopped } = await run(list);
  expect(stopped).toMatchObject({ message: 'The list does not end.' });
  expect(report).toMatchObject({ complete: false, counts: { imported: 1 } });
});

test.each([
  [401, 'revoked_api_key'],
  [403, 'quota_exceeded'],
  [403, 'insufficient_permissions'],
])('a problem that every further video would have ends the run: %i %s', async (status, code) => {
  const problem = { code, detail: 'It concerns all.', requestId: 'req_1' };
  framelane.service.on('POST /v1/videos/import', () => ({ status, body: problem }));
  const asked: string[] = [];
  const media = async () => {
    asked.push('media');
    return { url: 'https://media.example.com/a' };
  };
  const { report, stopped } = await run(['a', 'b', 'c'].map((name) => item(name, { media })));
  expect(stopped).toMatchObject({ code });
  expect(report).toMatchObject({ complete: false, counts: { imported: 0, failed: 1 } });
  expect(asked).toEqual(['media']);
});

test('Ctrl-C ends the run between two videos, and is no failure of a video', async () => {
  const controller = new AbortController();
  const media = async () => {
    controller.abort(new Error('Ctrl-C'));
    return { url: 'https://media.example.com/b' };
  };
  const begun: string[] = [];
  const { report, stopped } = await run(
    [item('a'), item('b', { media }), item('c'), item('d')],
    { onBegin: ({ name }) => begun.push(name) },
    { signal: controller.signal },
  );
  expect(begun).toEqual(['a', 'b']);
  expect(stopped).toMatchObject({ message: 'Ctrl-C' });
  expect(report).toMatchObject({ complete: false, counts: { imported: 1, failed: 0 } });
  expect(framelane.calls).toEqual(['import a', 'captions a']);
});

async function uploads(run: (list: LibraryItem[], context: Partial<ImportContext>) => Promise<void>) {
  await using media = await FakeService.start({ 'GET /a': { body: 'film' } });
  const details = async () => ({ captions: [], warnings: [] });
  const fetched = item('a', { details, media: async () => ({ url: `${media.url}/a` }) });
  await run([fetched], { transfer: 'upload', trustedHosts: new Set(['127.0.0.1']) });
  return media.requests.length;
}

test('an upload that failed is continued in the next run: the same file, the same video', async () => {
  const downloads = await uploads(async (list, context) => {
    framelane.refusesUploads = true;
    expect((await run(list, {}, context)).report.counts.failed).toBe(1);
    expect(await readdir(workFolder)).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
    framelane.refusesUploads = false;
    expect((await run(list, {}, context)).report.counts.imported).toBe(1);
    expect(await readdir(workFolder)).toEqual([]);
  });
  expect(downloads).toBe(1);
  expect(framelane.calls).toEqual(['ticket 1', 'upload 1', 'ticket 1', 'upload 1']);
});

test('an upload whose ticket is unknown by now replaces the video', async () => {
  framelane.add({ title: 'old', metadata: { importing: 'mux:a' } });
  await uploads(async (list, context) => {
    expect((await run(list, {}, context)).report.counts.imported).toBe(1);
  });
  expect(framelane.calls).toEqual(['ticket 2', 'delete old', 'upload 2']);
});

test('a video that somebody has deleted meanwhile is created again, once', async () => {
  await uploads(async (list, context) => {
    await run(list, {}, context);
    for (const { id } of framelane.videos.values())
      framelane.service.on(`GET /v1/videos/${id}`, {
        status: 404,
        body: { code: 'video_not_found', detail: '' },
      });
    framelane.videos.clear();
    framelane.calls.length = 0;
    framelane.refusesUploads = true;
    expect((await run(list, {}, context)).report.counts.failed).toBe(1);
    framelane.refusesUploads = false;
    expect((await run(list, {}, context)).report.counts.imported).toBe(1);
  });
  const attempt = ['ticket 1', 'ticket 2', 'upload 2'];
  expect(framelane.calls).toEqual([...attempt, ...attempt]);
});

test('a video of the other environment is not known', async () => {
  framelane.add({ environment: 'test', status: 'ready', metadata: { importedFrom: 'mux:a' } });
  expect((await run([item('a')])).report.counts.imported).toBe(1);
});

test('a URL that is longer than the API accepts is fetched by this machine', async () => {
  await using media = await FakeService.start({ 'GET /a': { body: 'film' } });
  const url = `${media.url}/a?signature=${'x'.repeat(2048)}`;
  const { report } = await run(
    [item('a', { media: async () => ({ url }) })],
    {},
    {
      trustedHosts: new Set(['127.0.0.1']),
    },
  );
  expect(report.counts.imported).toBe(1);
  expect(framelane.calls).toContain('upload 1');
});

test('a URL that Framelane refuses', async () => {
  const errors = [{ field: 'body/url', code: 'format', message: 'must have a public address' }];
  framelane.service.on('POST /v1/videos/import', {
    status: 400,
    body: { code: 'validation_failed', detail: 'Invalid.', requestId: 'req_1', errors },
  });
  expect((await run([item('a')])).report.items[0]?.reason).toBe(
    'Framelane does not fetch the file: its URL must have a public address. Add --transfer upload.',
  );
});

test('the playback policy of the user replaces that of the source', async () => {
  await run([item('a', { fields: { playbackPolicy: 'public' } })], { playbackPolicy: 'signed' });
  const request = framelane.service.requests.find(({ path }) => path === '/v1/videos/import');
  expect(JSON.parse(request?.body ?? '')).toMatchObject({ playbackPolicy: 'signed' });
});
