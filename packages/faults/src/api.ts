import {
  createClient,
  type FramelaneClient,
  FramelaneError,
  type UploadTicket,
  type UploadTicketRequest,
  unwrap,
  type Video,
} from '@framelane/client';
import { upload } from '@framelane/client/node';
import { PACKAGING_NAMES } from '@framelane/contracts/packaging';
import type { AlternativeCodec } from '@framelane/contracts/renditions';
import { until } from '@framelane/test-kit/until';

/** The first workspace and its API key. The control plane creates both when it starts. */
export const WORKSPACE_ID = 'ws_01kannnnnnfz0rzzzzzzzzzzzz';
export const API_KEY = 'svc_live_F4ultSu1teK3yOfTheFirstWorkspace';

const EVENTS = [
  'video.ready',
  'video.failed',
  'video.deleted',
  'video.captions.ready',
  'video.download.ready',
  'video.download.failed',
  'video.codec.ready',
  'video.codec.failed',
] as const;

export type Ticket = Pick<UploadTicket, 'videoId' | 'uploadUrl' | 'tusUrl' | 'uploadToken'>;

/** The public API. Records the responses to `client` that are server errors. */
export class Api {
  readonly client: FramelaneClient;
  /** 5xx responses, as `status method path`. */
  readonly serverErrors: string[] = [];
  /** The API key, and secrets that the API returned. They must not be stored or logged in clear text. */
  readonly secrets: string[] = [API_KEY];
  readonly #url: string;
  /** Fields of tickets, in turn. */
  readonly #turns: Partial<UploadTicketRequest>[];
  #tickets = 0;

  /** @param codecs of every fourth video beside H.264; if there are none, all videos have H.264 alone */
  constructor(url: string, codecs: readonly AlternativeCodec[] = []) {
    this.#url = url;
    const packagings = PACKAGING_NAMES.map((packaging) => ({ packaging }));
    // The installation chooses the packaging of the third.
    this.#turns = codecs.length === 0 ? packagings : [...packagings, {}, { codecs: [...codecs] }];
    const fetchAndRecord = async (request: Request) => {
      const response = await fetch(request);
      if (response.status >= 500)
        this.serverErrors.push(`${response.status} ${request.method} ${new URL(request.url).pathname}`);
      return response;
    };
    this.client = createClient({
      baseUrl: `${url}/v1`,
      apiKey: API_KEY,
      workspaceId: WORKSPACE_ID,
      fetch: fetchAndRecord,
    });
  }

  /** The packaging is each one in turn, and so are the codecs, unless `fields` have one of them. */
  async ticket(fields: Partial<UploadTicketRequest> = {}): Promise<Ticket> {
    this.#tickets += 1;
    const isChosen = fields.packaging !== undefined || fields.codecs !== undefined;
    const inTurn = isChosen ? {} : this.#turns[this.#tickets % this.#turns.length];
    const body = { filename: 'clip.mp4', ...inTurn, ...fields };
    const ticket = await this.client.uploadTickets.create(body);
    this.secrets.push(ticket.uploadToken);
    return ticket;
  }

  /** Uploads a file as a new video and resolves with its id. Retries: services on a busy machine can respond with 503. */
  async send(path: string, fields: Partial<UploadTicketRequest> = {}): Promise<string> {
    const ticket = await this.ticket(fields);
    await until(() => upload(path, ticket).then(() => true, isStoredNevertheless));
    return ticket.videoId;
  }

  /** Registers an endpoint for the events of all types. Resolves with its id. */
  async subscribe(url: string): Promise<string> {
    const events = [...EVENTS];
    const { id, secret } = await unwrap(this.client.POST('/webhooks', { body: { url, events } }));
    if (secret !== undefined) this.secrets.push(secret);
    return id;
  }

  /** The content key of a video that is ready. */
  async contentKey(videoId: string): Promise<Buffer> {
    const response = await fetch(`${this.#url}/v1/hls/${WORKSPACE_ID}/${videoId}/key`);
    if (!response.ok) throw new Error(`The key of ${videoId}: status ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  }

  playlistOf(videoId: string): string {
    return `${this.#url}/v1/hls/${WORKSPACE_ID}/${videoId}/master.m3u8`;
  }

  /** The video, or null when it does not exist or is deleted. */
  async video(id: string): Promise<Video | null> {
    const { data, error, response } = await this.client.GET('/videos/{id}', { params: { path: { id } } });
    if (response.status === 404) return null;
    if (data === undefined) throw new Error(`GET of ${id}: status ${response.status}, ${error?.detail}`);
    return data;
  }

  /** The ETag of a video, which changes with everything that its record shows, such as its captions. */
  async etag(id: string): Promise<string> {
    const { error, response } = await this.client.GET('/videos/{id}', { params: { path: { id } } });
    const etag = response.headers.get('etag');
    if (etag === null) throw new Error(`GET of ${id}: status ${response.status}, ${error?.detail}`);
    return etag;
  }

  async delete(id: string): Promise<void> {
    await unwrap(this.client.DELETE('/videos/{id}', { params: { path: { id } } }));
  }
}

/** Whether a failed upload has stored its file. Throws the error if a retry cannot help. */
function isStoredNevertheless(error: unknown): boolean {
  if (!(error instanceof FramelaneError)) throw error;
  if (error.code === 'upload_token_used') return true;
  if (error.status === 409 || error.status === 503) return false;
  throw error;
}
