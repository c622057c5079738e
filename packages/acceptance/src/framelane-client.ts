import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import type { Target } from './target.ts';
import { until } from './until.ts';

export type Ticket = {
  videoId: string;
  uploadUrl: string;
  uploadToken: string;
  expiresAt: string;
  maxBytes: number;
};

/** The record of a video, as far as the suite looks at it. */
export type Video = {
  id: string;
  workspaceId: string;
  status: 'uploading' | 'processing' | 'ready' | 'failed';
  title: string;
  filename: string;
  /** Only when ready, as are the variants. */
  hls?: string;
  variants?: string[];
  duration: number | null;
  width: number | null;
  height: number | null;
  frameRate: number | null;
  size: number | null;
  storageBytes: number;
  progress: number;
  error: { code: string; message: string } | null;
  source: { container: string; videoCodec: string; audioCodec: string | null; sha256: string } | null;
  createdAt: string;
  uploadedAt: string | null;
  readyAt: string | null;
  expiresAt: string | null;
};

export type ReadyVideo = Video & { status: 'ready'; hls: string; variants: string[] };

/** A minute is plenty for clips of a few seconds, also where others are transcoded at the same time. */
const TRANSCODE_LIMIT_MS = 60_000;

/** Uses a Framelane as a customer's server does, and remembers the videos it made. */
export class FramelaneClient {
  readonly target: Target;
  readonly #made = new Set<string>();

  constructor(target: Target) {
    this.target = target;
  }

  /** The headers that authenticate a call. */
  get credentials(): Record<string, string> {
    return {
      Authorization: `Bearer ${this.target.apiKey}`,
      'X-Svc-Workspace': this.target.workspaceId,
    };
  }

  /** A call to the control plane; a body is sent as JSON. */
  async call(method: string, path: string, body?: unknown): Promise<Response> {
    const hasBody = body !== undefined;
    return fetch(`${this.target.baseUrl}${path}`, {
      method,
      headers: { ...this.credentials, ...(hasBody && { 'Content-Type': 'application/json' }) },
      ...(hasBody && { body: JSON.stringify(body) }),
    });
  }

  async requestTicket(request: { filename: string; title?: string }): Promise<Ticket> {
    const ticket = await read<Ticket>(await this.call('POST', '/videos/upload-ticket', request), 201);
    this.adopt(ticket.videoId);
    return ticket;
  }

  /** Remembers a video that was made in another way. */
  adopt(videoId: string): void {
    this.#made.add(videoId);
  }

  /** Sends a file to the engine. Bytes of a blob that is a file on disk are read as they are sent. */
  async upload(
    { uploadUrl, uploadToken }: Pick<Ticket, 'uploadUrl' | 'uploadToken'>,
    file: Blob,
    filename = 'clip.mp4',
  ): Promise<Response> {
    const form = new FormData();
    form.append('file', file, filename);
    return fetch(uploadUrl, { method: 'POST', headers: { 'X-Upload-Token': uploadToken }, body: form });
  }

  async video(id: string): Promise<Video> {
    return read<Video>(await this.call('GET', `/videos/${id}`), 200);
  }

  /** Waits until a video that was uploaded is ready or has failed. */
  async settled(id: string, limitMs = TRANSCODE_LIMIT_MS): Promise<Video> {
    return until(
      `${id} to be transcoded`,
      async () => {
        const video = await this.video(id);
        return video.status === 'ready' || video.status === 'failed' ? video : undefined;
      },
      limitMs,
    );
  }

  /** Waits until a video that was uploaded can be played. Throws when it fails instead. */
  async ready(id: string): Promise<ReadyVideo> {
    const video = await this.settled(id);
    if (!isReady(video)) throw new Error(`${id} is not ready: ${JSON.stringify(video)}`);
    return video;
  }

  /** Takes a file the whole way. Resolves with the record of the ready video. */
  async publish(path: string): Promise<ReadyVideo> {
    const filename = basename(path);
    const ticket = await this.requestTicket({ filename });
    await read(await this.upload(ticket, await openAsBlob(path), filename), 202);
    return this.ready(ticket.videoId);
  }

  async delete(id: string): Promise<Response> {
    return this.call('DELETE', `/videos/${id}`);
  }

  /** Deletes the videos this client made, and no others. */
  async deleteAll(): Promise<void> {
    for (const id of this.#made) {
      const answer = await this.delete(id);
      if (answer.status !== 404) await read(answer, 204);
    }
    this.#made.clear();
  }
}

/** The JSON of an answer with the expected status; null when it has no body. Throws with what it says otherwise. */
async function read<T>(answer: Response, status: number): Promise<T> {
  const text = await answer.text();
  if (answer.status !== status) {
    throw new Error(`${answer.url} answered ${answer.status} instead of ${status}: ${text}`);
  }
  return JSON.parse(text || 'null');
}

function isReady(video: Video): video is ReadyVideo {
  return video.status === 'ready' && video.hls !== undefined && video.variants !== undefined;
}
