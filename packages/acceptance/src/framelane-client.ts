import { basename } from 'node:path';
import {
  type FramelaneClient as Api,
  createClient,
  FramelaneError,
  type ReadyVideo,
  type UploadTicket,
  type UploadTicketRequest,
  unwrap,
  type Video,
  VideoFailedError,
} from '@framelane/client';
import { upload } from '@framelane/client/node';
import { until } from '@framelane/test-kit/until';
import { checkRules } from './hls-rules.ts';
import type { Target } from './target.ts';

/** Enough for clips of a few seconds that wait for each other, also on a busy machine. */
const TRANSCODE_LIMIT_MS = 240_000;

/** Uses Framelane like a customer's server, and records the videos it creates. */
export class FramelaneClient {
  readonly target: Target;
  /** The published client. */
  readonly api: Api;
  readonly #made = new Set<string>();

  constructor(target: Target) {
    this.target = target;
    this.api = createClient(target);
  }

  /** Headers that authenticate a request. */
  get credentials(): Record<string, string> {
    return {
      Authorization: `Bearer ${this.target.apiKey}`,
      'X-Svc-Workspace': this.target.workspaceId,
    };
  }

  /** Sends a request to the control plane, with a JSON body. */
  async call(method: string, path: string, body?: unknown): Promise<Response> {
    const hasBody = body !== undefined;
    return fetch(`${this.target.baseUrl}${path}`, {
      method,
      headers: { ...this.credentials, ...(hasBody && { 'Content-Type': 'application/json' }) },
      ...(hasBody && { body: JSON.stringify(body) }),
    });
  }

  async requestTicket(request: UploadTicketRequest): Promise<UploadTicket> {
    const ticket = await unwrap(this.api.POST('/videos/upload-ticket', { body: request }));
    this.deleteAtEnd(ticket.videoId);
    return ticket;
  }

  /** Deletes this video, too, in `deleteAll`. For videos that this client has not created. */
  deleteAtEnd(videoId: string): void {
    this.#made.add(videoId);
  }

  /** Uploads a file to the engine. A blob that is a file on disk is streamed. */
  async upload(
    { uploadUrl, uploadToken }: Pick<UploadTicket, 'uploadUrl' | 'uploadToken'>,
    file: Blob,
    filename = 'clip.mp4',
  ): Promise<Response> {
    const form = new FormData();
    form.append('file', file, filename);
    return fetch(uploadUrl, { method: 'POST', headers: { 'X-Upload-Token': uploadToken }, body: form });
  }

  async video(id: string): Promise<Video> {
    return unwrap(this.api.GET('/videos/{id}', { params: { path: { id } } }));
  }

  /** Waits until an uploaded video is ready or failed. */
  async settled(id: string): Promise<Video> {
    return this.ready(id).catch((error: unknown) => {
      if (error instanceof VideoFailedError) return error.video;
      throw error;
    });
  }

  /** Waits until an uploaded video is ready in all its codecs. Throws if it fails or breaks a rule of HLS. */
  async ready(id: string): Promise<ReadyVideo> {
    const video = await this.api.videos.waitUntilReady(id, {
      signal: AbortSignal.timeout(TRANSCODE_LIMIT_MS),
    });
    const complete = await this.codecsSettled(video);
    await checkRules(complete, this.target);
    return complete;
  }

  /** Waits until no codec of a ready video is being prepared any more. */
  async codecsSettled({ id }: Pick<ReadyVideo, 'id'>): Promise<ReadyVideo> {
    return until(
      async () => {
        const video = await this.api.videos.waitUntilReady(id);
        return video.codecs.every(({ status }) => status !== 'preparing') && video;
      },
      { what: `the codecs of ${id}`, seconds: TRANSCODE_LIMIT_MS / 1000 },
    );
  }

  /** Uploads a file and resolves with the ready video. `fields` are those of the ticket. */
  async publish(path: string, fields: Partial<UploadTicketRequest> = {}): Promise<ReadyVideo> {
    const ticket = await this.requestTicket({ filename: basename(path), ...fields });
    await upload(path, ticket);
    return this.ready(ticket.videoId);
  }

  async delete(id: string): Promise<Response> {
    return this.call('DELETE', `/videos/${id}`);
  }

  /** Deletes the videos that this client created, and those of `deleteAtEnd`. */
  async deleteAll(): Promise<void> {
    for (const id of this.#made) {
      await unwrap(this.api.DELETE('/videos/{id}', { params: { path: { id } } })).catch((error: unknown) => {
        if (!(error instanceof FramelaneError && error.status === 404)) throw error;
      });
    }
    this.#made.clear();
  }
}
