import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { formWith } from '@framelane/test-kit/multipart';
import { API_KEY, PORTS, WORKSPACE_ID } from './system.ts';

/** A response, or null if the connection broke. */
export type Response = { status: number; body: Record<string, unknown> } | null;

const CREDENTIALS = { authorization: `Bearer ${API_KEY}`, 'x-svc-workspace': WORKSPACE_ID };

/** A client's time limit for a request, in virtual milliseconds. */
const LIMIT_MS = 60_000;

/** Sends a request to the public API. */
export function callApi(method: string, path: string, body?: object): Promise<Response> {
  return send(PORTS.public, method, path, {
    headers: { ...CREDENTIALS, ...(body && { 'content-type': 'application/json' }) },
    body: body && Buffer.from(JSON.stringify(body)),
  });
}

/** Uploads a file as a form. */
export function upload(token: string, file: string): Promise<Response> {
  const headers = {
    'x-upload-token': token,
    'content-type': 'multipart/form-data; boundary=framelane-test-boundary',
  };
  return send(PORTS.uploads, 'POST', '/upload', { headers, body: formWith(file) });
}

async function send(
  port: number,
  method: string,
  path: string,
  { headers, body }: { headers: Record<string, string>; body: Buffer | undefined },
): Promise<Response> {
  try {
    const { promise, resolve, reject } = Promise.withResolvers<NonNullable<Response>>();
    httpRequest(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { ...headers, ...(body && { 'content-length': body.byteLength }) },
      signal: AbortSignal.timeout(LIMIT_MS),
    })
      .on('response', (response) => {
        text(response).then((content) => {
          const json = content === '' ? {} : (JSON.parse(content) as Record<string, unknown>);
          resolve({ status: response.statusCode ?? 0, body: json });
        }, reject);
      })
      .on('error', reject)
      .end(body);
    return await promise;
  } catch {
    return null;
  }
}
