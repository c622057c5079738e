import { newId } from '@framelane/contracts/ids';
import { PACKAGING_NAMES, PACKAGINGS, type PackagingName } from '@framelane/contracts/packaging';
import { imageKey, segmentKey } from '@framelane/object-store/object-keys';
import type { ReceivedResponse } from '@framelane/openapi-tools/response-check';
import { jpegOf } from '@framelane/test-kit/jpeg';
import { pngOf } from '@framelane/test-kit/png';
import { newApiKeySecret } from '../../../src/api-keys/api-key-secret.ts';
import { createFullKey } from '../../../src/api-keys/api-keys.service.ts';
import { storeRequests } from '../../../src/request-log/request-log.store.ts';
import type { TestControlPlane } from '../control-plane.ts';
import { makeDownload } from '../derivations.ts';
import { FOLDER, sampleManifest } from '../manifest.ts';
import type { WireRequest } from './http-exchange.ts';
import { KINDS, type Kind, type Part, type RequestPlan, type Step } from './request-plans.ts';

type EngineStep = Extract<Step, { kind: 'engine' }>;
type Upload = { videoId: string; uploadToken: string };

const SEGMENT_BYTES = 188 * 8;
const SEGMENTS = 2;
/** As the simulated engine reports it. */
const SOURCE_BYTES = 1_000_000;

/** The downloads of each ready video. */
const DOWNLOADS = ['360p', 'highest', 'audio'];

/**
 * The workspace of one sequence of requests: its known ids and values, and an engine. It starts with a video in every state, a ready one of each packaging,
 * a webhook and its first delivery, a second key, and a logged request; responses add to what is known.
 */
export class PropertyWorkspace {
  readonly #plane: TestControlPlane;
  readonly #known: Record<Kind, string[]>;
  readonly #uploads: Upload[] = [];

  static async open(plane: TestControlPlane, webhookUrl: string): Promise<PropertyWorkspace> {
    const id = newId('ws');
    const secret = newApiKeySecret('live');
    await plane.db.insertInto('workspaces').values({ id, name: 'Property' }).execute();
    await createFullKey(plane.db, { workspaceId: id, name: 'First', secret });
    const workspace = new PropertyWorkspace(plane, id, secret);
    for (const packaging of PACKAGING_NAMES) {
      await workspace.#call('POST', '/videos/upload-ticket', { filename: 'ready.mp4', packaging });
      await workspace.act({ kind: 'engine', outcome: 'ready', nth: 0 });
    }
    for (const outcome of ['failed', 'uploaded'] as const) {
      await workspace.#call('POST', '/videos/upload-ticket', { filename: `${outcome}.mp4` });
      await workspace.act({ kind: 'engine', outcome, nth: 0 });
    }
    const poster = { type: 'image/jpeg', body: new Uint8Array(jpegOf(640, 360)) };
    const video = await workspace.#send('PUT', `/videos/${workspace.#known.vid[0]}/poster`, poster);
    workspace.#learnFrom(await video.json());
    const image = { type: 'image/png', body: new Uint8Array(pngOf(64, 32)) };
    const watermark = await workspace.#send('POST', '/watermarks', image);
    workspace.#learnFrom(await watermark.json());
    await workspace.#call('POST', '/videos/upload-ticket', { filename: 'pending.mp4' });
    const { id: webhook } = await workspace.#call('POST', '/webhooks', { url: webhookUrl });
    await workspace.#call('POST', `/webhooks/${webhook}/test`);
    await workspace.#call('POST', '/api-keys', { name: 'Second' });
    workspace.#remember('log', await workspace.#logRequest());
    return workspace;
  }

  private constructor(plane: TestControlPlane, id: string, secret: string) {
    this.#plane = plane;
    this.#known = Object.fromEntries(KINDS.map((kind) => [kind, []])) as unknown as Record<Kind, string[]>;
    this.#known.ws.push(id, plane.workspaceId);
    this.#known.secret.push(secret, plane.apiKey);
  }

  /** The raw request, with known values filled in. */
  resolve({ operation, method, path, query, headers, body }: RequestPlan): WireRequest {
    const place = operation.path.replace(/\{(\w+)\}/g, (_, name) => this.#text(path[name] ?? ''));
    const search =
      typeof query === 'string'
        ? query
        : query.map(([name, part]) => `${name}=${encoded(this.#text(part))}`).join('&');
    return {
      method,
      path: `/v1${place}${search === '' ? '' : `?${search}`}`,
      headers: [
        ...headers.map(([name, part]): [string, string] => [name, this.#headerText(name, part)]),
        ...(body ? [['Content-Type', body.type] satisfies [string, string]] : []),
        ...(body?.encoding ? [['Content-Encoding', body.encoding] satisfies [string, string]] : []),
      ],
      body: body?.bytes,
    };
  }

  /** Remembers values of a response: ids, cursors, tokens, secrets, tags. */
  learn({ headers, body }: ReceivedResponse): void {
    if (headers.etag) this.#remember('etag', headers.etag);
    if (!headers['content-type']?.startsWith('application/json')) return;
    const response = JSON.parse(body.toString('utf8') || 'null');
    if (response?.openapi) return;
    if (typeof response?.uploadToken === 'string') this.#uploads.push(response);
    this.#learnFrom(response);
  }

  /**
   * Uploads a file with one of the tickets, and completes or fails the transcode. With a ticket that is no longer valid,
   * nothing happens.
   */
  async act({ outcome, nth }: EngineStep): Promise<void> {
    const upload = this.#uploads.splice(nth % Math.max(1, this.#uploads.length), 1)[0];
    const workspaceId = this.#known.ws[0] ?? '';
    if (!upload) return;
    const { engine, objects } = this.#plane;
    const { videoId } = upload;
    let source: string;
    try {
      source = (await engine.upload(upload.uploadToken)).sourceKey;
    } catch (error) {
      if (!/responded with 4/.test(String(error))) throw error;
      return;
    }
    await objects.put(source, Buffer.alloc(SOURCE_BYTES), 'application/octet-stream');
    if (outcome === 'uploaded') return;
    const { attempt, work } = await engine.claim(videoId);
    const output = { workspaceId, videoId, attempt, folder: FOLDER };
    if (outcome === 'failed') {
      const failure = { code: 'not_a_video', message: 'This is not a video.', retryable: false } as const;
      await engine.fail(videoId, attempt, { ...failure });
      return;
    }
    const { packaging } = work;
    const manifest = smallManifest(packaging);
    for (const { name, segments } of manifest.renditions) {
      for (const sequence of segments.keys()) {
        const key = segmentKey(output, name, sequence, packaging);
        await objects.put(key, Buffer.alloc(SEGMENT_BYTES), PACKAGINGS[packaging].contentType);
      }
    }
    for (const name of ['poster.jpg', 'storyboard.jpg'] as const) {
      await objects.put(imageKey(output, name), Buffer.alloc(1), 'image/jpeg');
    }
    await engine.complete(videoId, attempt, manifest);
    // With a key that no request can have revoked.
    const secret = newApiKeySecret('live');
    await createFullKey(this.#plane.db, { workspaceId, name: 'Engine', secret });
    await this.#call('POST', `/videos/${videoId}/downloads`, { files: DOWNLOADS }, secret);
    for (const _ of DOWNLOADS) await makeDownload(this.#plane, videoId, Buffer.alloc(1), workspaceId);
  }

  #text(part: Part): string {
    if (typeof part === 'string') return part;
    const all = this.#known[part.known];
    return all[part.nth % Math.max(1, all.length)] ?? 'none';
  }

  #headerText(name: string, part: Part): string {
    const text = this.#text(part);
    return name === 'Authorization' && typeof part !== 'string' ? `Bearer ${text}` : asHeader(text);
  }

  #learnFrom(value: unknown, name = ''): void {
    if (typeof value === 'string') {
      const kind = kindOf(name, value);
      if (kind) this.#remember(kind, value);
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, item] of Object.entries(value)) this.#learnFrom(item, key);
    }
  }

  /** An entry of the request log, which has those of the first requests only after a second. */
  async #logRequest(): Promise<string> {
    const id = newId('log');
    const workspaceId = this.#known.ws[0] ?? '';
    await storeRequests(this.#plane.db, workspaceId, [
      {
        id,
        workspace_id: workspaceId,
        request_id: 'req_1',
        key_id: this.#known.key[0] ?? '',
        key_last4: 'AeLJ',
        method: 'GET',
        route: '/v1/videos/{id}',
        path: '/v1/videos/vid_1',
        query: '{}',
        status: 404,
        problem_code: 'video_not_found',
        duration_ms: 3,
        request_headers: '{}',
        request_body: null,
        response_headers: '{}',
        response_body: '{}',
        bytes: 400,
        created_at: new Date(),
      },
    ]);
    return id;
  }

  #remember(kind: Kind, value: string): void {
    if (!this.#known[kind].includes(value)) this.#known[kind].push(value);
  }

  async #call(method: string, path: string, body?: object, secret?: string): Promise<{ id: string }> {
    const content = body && { type: 'application/json', body: JSON.stringify(body) };
    const response = await this.#send(method, path, content, secret);
    const bytes = Buffer.from(await response.arrayBuffer());
    this.learn({ status: response.status, headers: Object.fromEntries(response.headers), body: bytes });
    return JSON.parse(bytes.toString('utf8'));
  }

  async #send(
    method: string,
    path: string,
    content?: { type: string; body: string | Uint8Array<ArrayBuffer> },
    secret = this.#known.secret[0],
  ): Promise<Response> {
    const response = await fetch(`${this.#plane.url}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${secret}`,
        'x-svc-workspace': this.#known.ws[0] ?? '',
        ...(content && { 'content-type': content.type }),
      },
      ...(content && { body: content.body }),
    });
    if (!response.ok) throw new Error(`${method} ${path} responded with ${await response.text()}`);
    return response;
  }
}

/** The kind of a text in a response, by the name of its property and its prefix. */
function kindOf(name: string, text: string): Kind | undefined {
  if (name === 'nextCursor') return 'cursor';
  if (name === 'token') return 'token';
  if (name === 'embed') return 'embed';
  if (name === 'secret') return text.startsWith('svc_') ? 'secret' : undefined;
  const [, prefix] = /^([a-z]+)_[0-9a-z]{26}$/.exec(text) ?? [];
  return KINDS.find((kind) => kind === prefix);
}

function smallManifest(packaging: PackagingName): ReturnType<typeof sampleManifest> {
  const manifest = sampleManifest(packaging);
  const renditions = manifest.renditions
    .filter(({ name }) => name !== '480p')
    .map((rendition) => ({
      ...rendition,
      segments: Array.from({ length: SEGMENTS }, () => ({ duration: 6, bytes: SEGMENT_BYTES })),
    }));
  return {
    ...manifest,
    duration: 6 * SEGMENTS,
    renditions,
    captions: [{ language: 'en', label: null, webvtt: 'WEBVTT\n\n00:00.000 --> 00:12.000\nHello\n' }],
    chapters: [{ start: 0, title: 'Opening' }],
    poster: manifest.poster && { bytes: 1 },
    storyboard: manifest.storyboard && { ...manifest.storyboard, bytes: 1 },
  };
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

/** The text if it is Latin-1, and otherwise its UTF-8 bytes; both without the control characters that Node refuses to send. */
function asHeader(text: string): string {
  const bytes = /^[\t\x20-\x7e\x80-\xff]*$/.test(text) ? text : Buffer.from(text).toString('latin1');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches them
  return bytes.replace(/[\0-\x08\x0a-\x1f\x7f]/g, '');
}
