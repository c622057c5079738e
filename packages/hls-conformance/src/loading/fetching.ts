import type { Answer, ResourceKind } from '../presentation.ts';
import { decodedBody, type HttpClient, type OpenAnswer } from './http-client.ts';

/** A small resource in memory, and the response. The body is null if it could not be fetched. */
export type Fetched = { answer: Answer; body: Buffer | null };

/** The answer to the question for a whole resource, before its body is read. */
export function answerOf(kind: ResourceKind, url: string, opened: Omit<OpenAnswer, 'body'>): Answer {
  const { status, headers, redirects } = opened;
  return {
    ...{ kind, question: 'whole', url, status, headers, redirects },
    ...{ error: null, bytes: 0, matches: null },
  };
}

/** There was no answer, or it broke off. */
export function noAnswer(kind: ResourceKind, url: string, error: unknown): Answer {
  return {
    ...answerOf(kind, url, { status: 0, headers: {}, redirects: [] }),
    status: null,
    error: messageOf(error),
  };
}

/** Fetches a playlist or a key. Anything longer than `limit` bytes, decoded, is none. */
export async function fetchSmall(
  client: HttpClient,
  kind: ResourceKind,
  url: string,
  limit: number,
): Promise<Fetched> {
  try {
    const opened = await client.ask(url);
    let bytes = 0;
    opened.body.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limit) opened.body.destroy(new Error(`it has more than ${limit} bytes`));
    });
    const body = await readAtMost(decodedBody(opened), limit);
    return { answer: { ...answerOf(kind, url, opened), bytes }, body: opened.status === 200 ? body : null };
  } catch (error) {
    return { answer: noAnswer(kind, url, error), body: null };
  }
}

/** Throws when there is more than `limit`: a few bytes can be the compressed form of very many. */
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
  // Node gives some errors of connections no message but only a code.
  if (error instanceof Error)
    return error.message || String((error as NodeJS.ErrnoException).code ?? error.name);
  return String(error);
}
