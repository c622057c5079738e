import type { LoadedResponse, ResourceKind } from '../presentation.ts';
import { decodedBody, type HttpClient, type OpenResponse } from './http-client.ts';

/** A small resource in memory, and the response. The body is null if it could not be fetched. */
export type Fetched = { response: LoadedResponse; body: Buffer | null };

/** A response to a request for a whole resource, before its body is read. */
export function responseOf(
  kind: ResourceKind,
  url: string,
  opened: Omit<OpenResponse, 'body'>,
): LoadedResponse {
  const { status, headers, redirects } = opened;
  return {
    kind,
    request: 'whole',
    url,
    status,
    headers,
    redirects,
    error: null,
    bytes: 0,
    matches: null,
  };
}

/** For a request without a complete response. */
export function failedResponse(kind: ResourceKind, url: string, error: unknown): LoadedResponse {
  return {
    ...responseOf(kind, url, { status: 0, headers: {}, redirects: [] }),
    status: null,
    error: messageOf(error),
  };
}

/** Fetches a small resource. This fails if the resource has more than `limit` bytes, as sent or decoded. */
export async function fetchSmall(
  client: HttpClient,
  kind: ResourceKind,
  url: string,
  limit: number,
): Promise<Fetched> {
  try {
    const opened = await client.request(url);
    let bytes = 0;
    opened.body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit) opened.body.destroy(new Error(`it has more than ${limit} bytes`));
    });
    const body = await readAtMost(decodedBody(opened), limit);
    return {
      response: { ...responseOf(kind, url, opened), bytes },
      body: opened.status === 200 ? body : null,
    };
  } catch (error) {
    return { response: failedResponse(kind, url, error), body: null };
  }
}

/** Throws above `limit` bytes: a small compressed body can become a very large one. */
async function readAtMost(stream: NodeJS.ReadableStream, limit: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    const chunk = Buffer.from(part as Uint8Array);
    bytes += chunk.length;
    if (bytes > limit) throw new Error(`it has more than ${limit} bytes`);
    parts.push(chunk);
  }
  return Buffer.concat(parts);
}

export function messageOf(error: unknown): string {
  // Some connection errors of Node have a code and no message.
  if (error instanceof Error)
    return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
  return String(error);
}
