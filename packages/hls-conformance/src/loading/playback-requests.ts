import { isDeepStrictEqual } from 'node:util';
import type { LoadedResponse, Presentation, RequestKind, ResourceKind } from '../presentation.ts';
import { failedResponse, responseOf } from './fetching.ts';
import type { HttpClient, OpenResponse } from './http-client.ts';

/** The first requested range, and the length of the last one: a block of AES. */
const [FROM, TO] = [100, 1123];
const LAST_BYTES = 16;

/** A resource, and the response with the whole of it. */
type Subject = { kind: ResourceKind; url: string; whole: LoadedResponse };

/**
 * Sends the other requests that players and caches send: HEAD, conditional, range and preflight requests, and one for a
 * missing resource. They go to the master playlist, every key, and the playlist and first segment of each video or audio rendition.
 */
export async function sendPlaybackRequests(
  client: HttpClient,
  presentation: Presentation,
): Promise<LoadedResponse[]> {
  const responses: LoadedResponse[] = [];
  for (const subject of subjectsOf(presentation)) {
    for (const [request, method, headers] of requestsFor(subject)) {
      responses.push(await ask(client, subject, request, method, headers));
    }
    if (subject.kind === 'segment') responses.push(...(await requestParts(client, subject)));
  }
  return responses;
}

function subjectsOf({ url, renditions, keys, responses }: Presentation): Subject[] {
  const urls = [url, ...keys.map((key) => key.url)];
  for (const rendition of renditions)
    urls.push(rendition.url, ...rendition.segments.slice(0, 1).map((each) => each.url));
  return [...new Set(urls)].flatMap((address) => {
    const whole = responses.find((response) => response.url === address && response.status === 200);
    return whole ? [{ kind: whole.kind, url: address, whole }] : [];
  });
}

function requestsFor({ whole }: Subject): [RequestKind, string, Record<string, string>][] {
  const { etag, 'last-modified': modified } = whole.headers;
  const condition = etag ? { 'If-None-Match': etag } : modified ? { 'If-Modified-Since': modified } : null;
  return [
    ['head', 'HEAD', {}],
    ...(condition
      ? ([['conditional', 'GET', condition]] satisfies [RequestKind, string, Record<string, string>][])
      : []),
    [
      'preflight',
      'OPTIONS',
      { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'range' },
    ],
    ['missing resource', 'GET', {}],
  ];
}

async function ask(
  client: HttpClient,
  { kind, url }: Subject,
  request: RequestKind,
  method: string,
  headers: Record<string, string>,
): Promise<LoadedResponse> {
  const address = request === 'missing resource' ? new URL('no-such-thing-hls-check', url).href : url;
  try {
    const opened = await client.request(address, method, headers);
    const bytes = (await readEnds(opened)).length;
    return { ...responseOf(kind, address, opened), request, bytes };
  } catch (error) {
    return { ...failedResponse(kind, address, error), request };
  }
}

/** Requests parts of a segment and compares them with the whole. */
async function requestParts(client: HttpClient, { url }: Subject): Promise<LoadedResponse[]> {
  const whole = await client.request(url).then(readEnds, () => null);
  if (whole === null) return [];
  const { length } = whole;
  const end = Math.min(TO, length - 1);
  const parts: [RequestKind, string, Part][] = [
    [
      'first bytes',
      `bytes=${FROM}-${TO}`,
      { from: FROM, to: end, bytes: whole.first.subarray(FROM, end + 1) },
    ],
    ['last bytes', `bytes=-${LAST_BYTES}`, { from: length - LAST_BYTES, to: length - 1, bytes: whole.last }],
  ];
  const responses: LoadedResponse[] = [];
  for (const [request, range, part] of parts) {
    responses.push(await requestPart(client, url, request, range, { ...part, length }));
  }
  responses.push(await requestPart(client, url, 'bytes beyond the end', `bytes=${length}-`, null));
  return responses;
}

type Part = { from: number; to: number; bytes: Buffer };

async function requestPart(
  client: HttpClient,
  url: string,
  request: RequestKind,
  range: string,
  part: (Part & { length: number }) | null,
): Promise<LoadedResponse> {
  try {
    const opened = await client.request(url, 'GET', { Range: range });
    const sent = await readEnds(opened);
    const response = { ...responseOf('segment', url, opened), request, bytes: sent.length };
    if (part === null) return response;
    const rightRange = opened.headers['content-range'] === `bytes ${part.from}-${part.to}/${part.length}`;
    const rightBytes = sent.length === part.bytes.length && isDeepStrictEqual(sent.first, part.bytes);
    return { ...response, matches: rightRange && rightBytes };
  } catch (error) {
    return { ...failedResponse('segment', url, error), request };
  }
}

/** Reads a body to its end. Keeps its first and last bytes. */
async function readEnds({ body }: OpenResponse): Promise<{ length: number; first: Buffer; last: Buffer }> {
  let [length, first, last] = [0, Buffer.alloc(0), Buffer.alloc(0)];
  for await (const part of body) {
    const chunk = part as Buffer;
    length += chunk.length;
    if (first.length <= TO) first = Buffer.concat([first, chunk.subarray(0, TO + 1 - first.length)]);
    last = Buffer.concat([last, chunk.subarray(-LAST_BYTES)]).subarray(-LAST_BYTES);
  }
  return { length, first, last };
}
