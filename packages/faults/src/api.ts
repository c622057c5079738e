import { createClient, type FramelaneClient, unwrap } from '@framelane/client';
import { upload } from '@framelane/client/node';

/** The first workspace and its key, made by the control plane at its start. */
export const WORKSPACE_ID = 'ws_01kannnnnnfz0rzzzzzzzzzzzz';
export const API_KEY = 'svc_live_F4ultSu1teK3yOfTheFirstWorkspace';

export type Ticket = { videoId: string; uploadUrl: string; uploadToken: string };

/** The API as its users have it. Remembers every answer that should not have been. */
export class Api {
  readonly client: FramelaneClient;
  /** Answers 5xx, as `status method path`. */
  readonly serverErrors: string[] = [];
  /** What was told once and may stand nowhere in clear. */
  readonly secrets: string[] = [API_KEY];
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
    const fetchAndNote = async (request: Request) => {
      const answer = await fetch(request);
      if (answer.status >= 500)
        this.serverErrors.push(`${answer.status} ${request.method} ${new URL(request.url).pathname}`);
      return answer;
    };
    this.client = createClient({
      baseUrl: `${url}/v1`,
      apiKey: API_KEY,
      workspaceId: WORKSPACE_ID,
      fetch: fetchAndNote,
    });
  }

  async ticket(filename = 'clip.mp4'): Promise<Ticket> {
    const ticket = await unwrap(this.client.POST('/videos/upload-ticket', { body: { filename } }));
    this.secrets.push(ticket.uploadToken);
    return ticket;
  }

  /** Uploads a file as a new video and resolves with its id. */
  async send(path: string): Promise<string> {
    const ticket = await this.ticket();
    await upload(path, ticket);
    return ticket.videoId;
  }

  /** Has all events of the workspace sent there; resolves with the id of the webhook. */
  async subscribe(url: string): Promise<string> {
    const { id, secret } = await unwrap(this.client.POST('/webhooks', { body: { url } }));
    if (secret !== undefined) this.secrets.push(secret);
    return id;
  }

  /** The content key of a video that is ready. */
  async contentKey(videoId: string): Promise<Buffer> {
    const answer = await fetch(`${this.#url}/v1/hls/${WORKSPACE_ID}/${videoId}/key`);
    if (!answer.ok) throw new Error(`The key of ${videoId} was answered ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer());
  }

  playlistOf(videoId: string): string {
    return `${this.#url}/v1/hls/${WORKSPACE_ID}/${videoId}/master.m3u8`;
  }

  /** The record, or null when there is none (any more). */
  async video(id: string): Promise<{ id: string; status: string; progress: number } | null> {
    const { data, error, response } = await this.client.GET('/videos/{id}', { params: { path: { id } } });
    if (response.status === 404) return null;
    if (data === undefined) throw new Error(`GET of ${id} was answered ${response.status}: ${error?.detail}`);
    return data;
  }

  async delete(id: string): Promise<void> {
    await unwrap(this.client.DELETE('/videos/{id}', { params: { path: { id } } }));
  }
}
