// biome-ignore-all lint/performance/noBarrelFile: an entry point of a published package re-exports the public names.
import type { UploadReceipt, UploadTicket } from './contract.ts';
import { ConnectionError } from './framelane-error.ts';
import { uploadWithKeptTicket } from './kept-ticket.ts';
import {
  type EngineResponse,
  IDLE_TIMEOUT_MS,
  resumablePermit,
  type Send,
  uploadResumably,
} from './resumable-upload.ts';
import { readReceipt, type UploadOptions, type UploadPermit } from './upload.ts';

export { ApiError, ConnectionError, FramelaneError } from './framelane-error.ts';
export type { UploadOptions, UploadPermit, UploadProgress } from './upload.ts';

/** Only what an upload needs. The DOM types would apply to all packages of Framelane. */
declare class XMLHttpRequest {
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null };
  readonly status: number;
  readonly responseText: string;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getResponseHeader(name: string): string | null;
  send(body: FormData | Blob | null): void;
  abort(): void;
}
declare const localStorage: {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
};

/**
 * Sends a file from a web page to the engine. Resolves when the engine has stored the file, whether it is a video or not.
 * Above 64 MiB the upload is resumable, if the permit is a whole ticket. A resumable upload survives lost connections, and a later call
 * with the same ticket continues it. Throws a FramelaneError if the engine responds with an error or the connection fails. The ticket stays
 * valid unless the code is `upload_token_…`.
 */
export async function upload(
  file: Blob,
  permit: UploadPermit,
  options: UploadOptions = {},
): Promise<UploadReceipt> {
  options.signal?.throwIfAborted();
  const resumable = resumablePermit(file.size, permit, options);
  if (resumable === undefined) return uploadForm(file, permit, options);
  const { size } = file;
  const identity = file instanceof File ? { name: file.name, modified: file.lastModified } : {};
  const send: Send = ({ start, onSent, ...request }) => {
    const body = start === undefined ? null : file.slice(start);
    return exchange({ ...request, body, onSent, idleMs: IDLE_TIMEOUT_MS }, options.signal);
  };
  return uploadResumably({ size, ...identity }, resumable, options, send);
}

/** Options of `uploadVideo` in a web page. */
export type UploadVideoOptions = UploadOptions & {
  /** Called with the ticket of the file, a kept one or a new one, before the file is sent. */
  onTicket?: ((ticket: UploadTicket) => void) | undefined;
  /** A ticket is used again only with the same text, for example the URL of the endpoint that gives tickets. Default ''. */
  scope?: string | undefined;
};

/**
 * Uploads a file with a ticket that `requestTicket` gets from your server. The ticket is kept in `localStorage` until the file has arrived.
 * Another call for the same file continues the upload, also after a reload of the page, unless the browser refuses to store the ticket.
 */
export async function uploadVideo(
  file: File,
  requestTicket: () => Promise<UploadTicket>,
  { onTicket, scope, ...options }: UploadVideoOptions = {},
): Promise<UploadReceipt> {
  const key = keyOf(file, scope);
  const kept = {
    get: () => JSON.parse(keptTicket(key) ?? 'null'),
    set: (ticket: UploadTicket) => keepTicket(key, JSON.stringify(ticket)),
    delete: () => forgetTicket(key),
  };
  return uploadWithKeptTicket(file.size, kept, requestTicket, (ticket) => {
    onTicket?.(ticket);
    return upload(file, ticket, options);
  });
}

/** Forgets the ticket of a file that will not be sent. The next `uploadVideo` requests a new one. Abort an upload in progress before. */
export function forgetUpload(file: File, { scope }: Pick<UploadVideoOptions, 'scope'> = {}): void {
  forgetTicket(keyOf(file, scope));
}

function keyOf({ name, size, lastModified }: File, scope = ''): string {
  return ['framelane', name, size, lastModified, scope].filter((part) => part !== '').join(' ');
}

/** Tickets that the browser refused to store, because the page may not use its storage or the storage is full. */
const unstored = new Map<string, string>();

function keptTicket(key: string): string | null {
  try {
    return localStorage.getItem(key) ?? unstored.get(key) ?? null;
  } catch {
    return unstored.get(key) ?? null;
  }
}

function keepTicket(key: string, ticket: string): void {
  try {
    localStorage.setItem(key, ticket);
  } catch {
    unstored.set(key, ticket);
  }
}

function forgetTicket(key: string): void {
  unstored.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was stored.
  }
}

async function uploadForm(
  file: Blob,
  { uploadUrl, uploadToken }: UploadPermit,
  { onProgress, signal }: UploadOptions,
): Promise<UploadReceipt> {
  const body = new FormData();
  body.append('file', file);
  // The sent bytes include the form around the file.
  const onSent = (sent: number) => onProgress?.({ sent: Math.min(sent, file.size), total: file.size });
  const headers = { 'X-Upload-Token': uploadToken };
  const response = await exchange({ method: 'POST', url: uploadUrl, headers, body, onSent }, signal);
  return readReceipt(response.status, response.header('x-request-id'), response.body);
}

/** Sends a request. Rejects with a ConnectionError without a complete response, or with the reason of `signal`. */
async function exchange(
  request: {
    method: string;
    url: string;
    headers: Record<string, string>;
    body: FormData | Blob | null;
    onSent?: ((bytes: number) => void) | undefined;
    /** Milliseconds without progress after which the connection counts as lost. */
    idleMs?: number;
  },
  signal: AbortSignal | undefined,
): Promise<EngineResponse> {
  const { method, url, headers, body, onSent, idleMs } = request;
  // fetch does not report upload progress.
  const xhr = new XMLHttpRequest();
  xhr.open(method, url);
  for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
  const abort = () => xhr.abort();
  let idle: ReturnType<typeof setTimeout> | undefined;
  const waitLonger = () => {
    clearTimeout(idle);
    if (idleMs !== undefined) idle = setTimeout(abort, idleMs);
  };
  xhr.upload.onprogress = ({ loaded }) => {
    waitLonger();
    onSent?.(loaded);
  };
  signal?.addEventListener('abort', abort);
  try {
    await new Promise<void>((resolve, reject) => {
      xhr.onload = () => resolve();
      xhr.onerror = () => reject(new ConnectionError(url));
      xhr.onabort = () => reject(signal?.aborted ? signal.reason : new ConnectionError(url));
      waitLonger();
      xhr.send(body);
    });
    return { status: xhr.status, header: (name) => xhr.getResponseHeader(name), body: xhr.responseText };
  } finally {
    clearTimeout(idle);
    signal?.removeEventListener('abort', abort);
  }
}
