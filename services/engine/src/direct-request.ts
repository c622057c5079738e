import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

/**
 * Agents of our own. Unlike `fetch` and the agents of Node, they ignore the proxy in the environment (`NODE_USE_ENV_PROXY`), which would
 * receive the service secret. Idle connections do not keep the process alive.
 */
const agents = (keepAlive: boolean) => ({
  'http:': new HttpAgent({ keepAlive }),
  'https:': new HttpsAgent({ keepAlive }),
});
const KEPT = agents(true);
const UNKEPT = agents(false);

export type DirectResponse = { status: number; headers: IncomingMessage['headers']; text: string };

/** A POST. The signal also ends the response. */
type DirectRequest = {
  body: Buffer;
  contentType: string;
  authorization?: string;
  headers?: Readonly<Record<string, string>>;
  /** Whether the connection is kept for the next request; by default, it is. */
  keepAlive?: boolean;
  signal: AbortSignal;
};

/** Sends a POST over a direct connection. Follows no redirect. The caller reads the response. */
export async function sendDirectly(
  url: string,
  { body, contentType, authorization, headers, keepAlive = true, signal }: DirectRequest,
): Promise<IncomingMessage> {
  const { protocol } = new URL(url);
  const isTls = protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  (isTls ? httpsRequest : httpRequest)(url, {
    method: 'POST',
    headers: {
      ...headers,
      ...(authorization !== undefined && { Authorization: authorization }),
      'Content-Type': contentType,
      'Content-Length': body.byteLength,
    },
    agent: (keepAlive ? KEPT : UNKEPT)[isTls ? 'https:' : 'http:'],
    signal,
  })
    .on('response', resolve)
    .on('error', reject)
    .end(body);
  return promise;
}

/** Sends a POST with a JSON body over a direct connection, and reads the response. Follows no redirect. */
export async function postDirectly(
  url: string,
  options: { headers: Readonly<Record<string, string>>; body: object; signal: AbortSignal },
): Promise<DirectResponse> {
  const response = await sendDirectly(url, {
    ...options,
    body: Buffer.from(JSON.stringify(options.body)),
    contentType: 'application/json',
  });
  return { status: response.statusCode ?? 0, headers: response.headers, text: await text(response) };
}
