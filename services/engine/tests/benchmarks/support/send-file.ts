import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request } from 'node:http';
import { BOUNDARY, CLOSING_BOUNDARY, filePartHead } from '@framelane/test-kit/multipart';

const PIECE = randomBytes(256 * 1024);

type Sent = { status: number | undefined; location: string | undefined };

/** Uploads a file as a form, as browsers do. Throws unless the engine accepts it. */
export async function sendForm(port: number, token: string, bytes: number): Promise<void> {
  const [head, tail] = [filePartHead(), `\r\n${CLOSING_BOUNDARY}`];
  const headers = {
    'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
    'Content-Length': Buffer.byteLength(head) + bytes + Buffer.byteLength(tail),
    'X-Upload-Token': token,
  };
  const { status } = await send({ port, path: '/upload', method: 'POST', headers }, [head, bytes, tail]);
  if (status !== 202) throw new Error(`The engine responded with ${status}`);
}

/** Uploads a file as tus clients do: creates the upload, then sends it in one request. */
export async function sendByTus(
  port: number,
  bytes: number,
  extra: Record<string, string> = {},
): Promise<void> {
  const protocol = { 'Tus-Resumable': '1.0.0', ...extra };
  const created = await send(
    {
      port,
      path: '/files',
      method: 'POST',
      headers: { ...protocol, 'Upload-Length': bytes, 'Content-Length': 0 },
    },
    [],
  );
  if (created.status !== 201 || !created.location) throw new Error(`tus responded with ${created.status}`);
  const headers = {
    ...protocol,
    'Upload-Offset': 0,
    'Content-Type': 'application/offset+octet-stream',
    'Content-Length': bytes,
  };
  const path = new URL(created.location, 'http://tus').pathname;
  const { status } = await send({ port, path, method: 'PATCH', headers }, [bytes]);
  if (status !== 204) throw new Error(`tus responded with ${status}`);
}

/** Sends a request body: strings as they are, and random bytes for each number. */
async function send(
  options: { port: number; path: string; method: string; headers: Record<string, string | number> },
  parts: readonly (string | number)[],
): Promise<Sent> {
  const outgoing = request({ host: '127.0.0.1', ...options });
  const responded = once(outgoing, 'response');
  for (const part of parts) {
    if (typeof part === 'string') outgoing.write(part);
    else await sendBytes(outgoing, part);
  }
  outgoing.end();
  const [response] = await responded;
  const { statusCode, headers } = response.resume();
  await once(response, 'end');
  return { status: statusCode, location: headers.location };
}

async function sendBytes(outgoing: ClientRequest, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes; sent += PIECE.length) {
    if (!outgoing.write(PIECE.subarray(0, bytes - sent))) await once(outgoing, 'drain');
  }
}
