import type { UploadReceipt, UploadTicket } from './contract.ts';
import { ConnectionError, errorOf, FramelaneError } from './framelane-error.ts';
import { parseBody } from './parse-body.ts';
import { pause } from './pause.ts';
import type { UploadOptions, UploadPermit } from './upload.ts';

/** Larger files are sent as resumable uploads by default. */
const LARGEST_FORM_BYTES = 64 * 1024 ** 2;

/** A connection without data for this long is dead. The engine continues the upload on the next one. */
export const IDLE_TIMEOUT_MS = 90_000;

/** With these pauses the default number of retries takes three to six minutes. */
const DEFAULT_RETRIES = 12;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 60_000;

type ResumablePermit = Pick<UploadTicket, 'videoId' | 'tusUrl' | 'uploadToken'>;

/** `name` and `modified` (Unix time in milliseconds) tell files of the same size apart. */
export type ResumableFile = { size: number; name?: string | undefined; modified?: number | undefined };

export type EngineRequest = {
  method: 'POST' | 'HEAD' | 'PATCH';
  url: string;
  headers: Record<string, string>;
  /** The offset of the body in the file. The body extends to the end of the file. Undefined without a body. */
  start?: number;
  /** Called with the bytes of the body that were sent so far. */
  onSent?: (bytes: number) => void;
};

export type EngineResponse = { status: number; header: (name: string) => string | null; body: string };

/** Sends a request. Rejects with a ConnectionError if no complete response arrives. */
export type Send = (request: EngineRequest) => Promise<EngineResponse>;

/** The permit of a resumable upload, or undefined if the file must be sent as a form. `size` is null for a stream. */
export function resumablePermit(
  size: number | null,
  { tusUrl, videoId, uploadToken }: UploadPermit,
  { resumableAbove = LARGEST_FORM_BYTES }: UploadOptions,
): ResumablePermit | undefined {
  if (size === null || size <= resumableAbove || !tusUrl || !videoId) return undefined;
  return { tusUrl, videoId, uploadToken };
}

/**
 * Sends a file by tus 1.0 (https://tus.io/protocols/resumable-upload). The engine finds the unfinished upload of a ticket by its
 * size and metadata, so a later call with the same permit continues it.
 */
export async function uploadResumably(
  file: ResumableFile,
  permit: ResumablePermit,
  { onProgress, signal, retries = DEFAULT_RETRIES }: UploadOptions,
  send: Send,
): Promise<UploadReceipt> {
  const { size } = file;
  const report = (sent: number) => onProgress?.({ sent, total: size });
  const upload = new TusUpload(file, permit, send);
  // Only bytes beyond the furthest offset are progress: otherwise an engine that always loses its data would be retried forever.
  let reached = 0;
  for (let failures = 0; ; failures += 1) {
    try {
      const offset = await upload.offset();
      if (offset > reached) failures = 0;
      reached = Math.max(reached, offset);
      report(offset);
      signal?.throwIfAborted();
      const arrived = offset === size ? size : await upload.sendFrom(offset, report);
      if (arrived === size) return receiptOf(permit.videoId, size);
      const message = `The engine has received only ${arrived} of ${size} bytes.`;
      throw new Interruption(new FramelaneError(message, { code: 'upload_incomplete' }));
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof Interruption)) throw error;
      if (failures >= retries) throw error.reason;
    }
    await pause(pauseMs(failures), signal);
  }
}

/** A receipt like the one that the engine sends for a form. tus has none, so `receivedAt` is the time of this machine. */
export function receiptOf(videoId: string, size: number): UploadReceipt {
  return { videoId, status: 'processing', size, receivedAt: new Date().toISOString() };
}

/** Milliseconds before a retry. Half of it is random, so that many clients do not retry at the same moment. */
export function pauseMs(failures: number, random: () => number = Math.random): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS) * (0.5 + random() / 2);
}

/** The upload may continue after a pause. `reason` is thrown when the retries are exhausted. */
class Interruption extends Error {
  readonly reason: FramelaneError;

  constructor(reason: FramelaneError) {
    super(reason.message);
    this.reason = reason;
  }
}

class TusUpload {
  readonly #file: ResumableFile;
  readonly #permit: ResumablePermit;
  readonly #send: Send;
  #url: string | undefined;

  constructor(file: ResumableFile, permit: ResumablePermit, send: Send) {
    this.#file = file;
    this.#permit = permit;
    this.#send = send;
  }

  /** The offset at which the upload continues. Creates the upload if it does not exist. */
  async offset(): Promise<number> {
    this.#url ??= await this.#create();
    const response = await this.#request({ method: 'HEAD', url: this.#url });
    const { status } = response;
    if (status === 200) return offsetIn(response);
    // A response to HEAD has no body that says what is wrong. So the next try creates the upload again: the
    // response to that POST says what is wrong, or a new upload begins.
    if (!isTemporary(status)) this.#url = undefined;
    const requestId = response.header('x-request-id');
    const message = `The response to the request for the offset of the upload has the status ${status}.`;
    throw new Interruption(new FramelaneError(message, { code: 'unexpected_response', status, requestId }));
  }

  /** Sends the rest of the file. Resolves with how far it has arrived. */
  async sendFrom(start: number, report: (sent: number) => void): Promise<number> {
    const response = await this.#request({
      method: 'PATCH',
      url: this.#url ?? '',
      headers: { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(start) },
      start,
      onSent: (bytes) => report(start + bytes),
    });
    if (response.status === 204) return offsetIn(response);
    // 404 and 410 are retried: the next HEAD fails as well, and then the upload is created again.
    throw refusal(response, [404, 410]);
  }

  async #create(): Promise<string> {
    const { tusUrl } = this.#permit;
    const metadata = metadataOf(this.#file);
    const headers = {
      'Upload-Length': String(this.#file.size),
      ...(metadata !== '' && { 'Upload-Metadata': metadata }),
    };
    const response = await this.#request({ method: 'POST', url: tusUrl, headers });
    if (response.status !== 201) throw refusal(response);
    return new URL(response.header('location') ?? '', tusUrl).href;
  }

  async #request({
    headers,
    ...request
  }: Omit<EngineRequest, 'headers'> & Partial<EngineRequest>): Promise<EngineResponse> {
    const common = { 'Tus-Resumable': '1.0.0', 'X-Upload-Token': this.#permit.uploadToken };
    try {
      return await this.#send({ ...request, headers: { ...common, ...headers } });
    } catch (error) {
      throw error instanceof ConnectionError ? new Interruption(error) : error;
    }
  }
}

function offsetIn(response: EngineResponse): number {
  const offset = Number(response.header('upload-offset') ?? Number.NaN);
  if (Number.isSafeInteger(offset)) return offset;
  throw errorIn(response);
}

function refusal(response: EngineResponse, retried: readonly number[] = []): Error {
  const error = errorIn(response);
  const { status } = response;
  return isTemporary(status) || retried.includes(status) ? new Interruption(error) : error;
}

function errorIn({ status, header, body }: EngineResponse): FramelaneError {
  return errorOf(status, header('x-request-id'), parseBody(body));
}

function isTemporary(status: number): boolean {
  return status >= 500 || [408, 409, 423, 429, 460].includes(status);
}

/** `Upload-Metadata`: pairs of a name and a value in base64. */
function metadataOf({ name, modified }: ResumableFile): string {
  return Object.entries({ filename: name, modified })
    .flatMap(([key, value]) => (value === undefined ? [] : `${key} ${base64(String(value))}`))
    .join();
}

/** Encodes the UTF-8 bytes of a text. */
function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}
