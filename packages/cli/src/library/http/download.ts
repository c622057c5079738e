import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { brokenConnection, type CheckedRequest, checkedRequest } from './checked-request.ts';
import { responseProblem } from './response-problem.ts';
import { type Pause, retrying } from './retrying.ts';
import { TransferError } from './transfer-error.ts';

type DownloadOptions = Pick<CheckedRequest, 'trustedHosts' | 'signal'> & {
  headers?: Readonly<Record<string, string>>;
  pause: Pause;
};

/**
 * Fetches a file to a path. Until it is complete, it is at `<path>.part`; a later call continues it, also in another process, if the server
 * supports that and the file is still the same. Resolves with its size.
 */
export async function download(url: string, path: string, options: DownloadOptions): Promise<number> {
  const part = `${path}.part`;
  for (;;) {
    // Each call counts its own failures: a long file may lose its connection more often than five times, while it grows.
    const before = await sizeOf(part);
    try {
      await retrying(() => fetchRest(url, part, options), options);
      break;
    } catch (error) {
      const grown = (await sizeOf(part)) > before;
      if (!(error instanceof TransferError && error.temporary && grown)) throw error;
    }
  }
  await rename(part, path);
  await rm(`${part}.etag`, { force: true });
  return sizeOf(path);
}

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

async function fetchRest(
  url: string,
  part: string,
  { headers = {}, ...options }: DownloadOptions,
): Promise<void> {
  const server = new URL(url).host;
  const start = await sizeOf(part);
  const etag = start > 0 ? await readFile(`${part}.etag`, 'utf8').catch(() => '') : '';
  const range = etag === '' ? {} : { Range: `bytes=${start}-`, 'If-Range': etag };
  const response = await checkedRequest(url, { ...options, headers: { ...headers, ...range } });
  const { statusCode } = response;
  if (statusCode === 416 && contentRange(response)?.total === start) return void response.destroy();
  if (statusCode !== 200 && statusCode !== 206) {
    response.destroy();
    if (statusCode === 416) await rm(part, { force: true });
    throw responseProblem(response, { server, denied: 'The URL may have expired: run the command again.' });
  }
  const from = statusCode === 206 ? contentRange(response)?.start : 0;
  if (from !== 0 && from !== start) {
    response.destroy();
    await rm(part, { force: true });
    throw new TransferError(`${server} sends another part of the file than was asked for.`, {
      temporary: true,
    });
  }
  await save(response, part, { server, from, total: totalOf(response) });
}

async function save(
  response: IncomingMessage,
  part: string,
  { server, from, total }: { server: string; from: number; total: number | undefined },
): Promise<void> {
  const {
    etag = '',
    'content-type': type = '',
    'content-encoding': encoding = 'identity',
  } = response.headers;
  if (/^text\/html/i.test(type) || encoding !== 'identity') {
    response.destroy();
    const what = encoding === 'identity' ? 'a web page' : `data that is encoded as ${encoding}`;
    throw new TransferError(
      `${server} sends ${what} in place of the file. Check that the file can be downloaded.`,
    );
  }
  // A weak ETag does not say that the bytes are the same.
  await writeFile(`${part}.etag`, etag.startsWith('"') ? etag : '');
  await append(response, part, { server, isNew: from === 0 });
  const size = await sizeOf(part);
  if (total !== undefined && size !== total)
    throw new TransferError(`${server} has sent ${size} of ${total} bytes.`, { temporary: true });
}

/** Stores each chunk before it takes the next one: a broken connection loses nothing that has arrived. */
async function append(
  response: IncomingMessage,
  part: string,
  { server, isNew }: { server: string; isNew: boolean },
): Promise<void> {
  const file = await open(part, isNew ? 'w' : 'a').catch(notStored);
  try {
    for await (const chunk of response) await file.writeFile(chunk).catch(notStored);
  } catch (error) {
    throw brokenConnection(server, error as Error);
  } finally {
    await file.close();
  }
}

function notStored(cause: Error): never {
  throw new TransferError(
    `The file cannot be stored: ${cause.message}. Free the disk, then run the command again.`,
    { cause },
  );
}

/** The size of the whole file, if the server says it. */
function totalOf(response: IncomingMessage): number | undefined {
  if (response.statusCode === 206) return contentRange(response)?.total;
  const { 'content-length': length } = response.headers;
  return length === undefined ? undefined : Number(length);
}

/** `Content-Range`, RFC 9110 §14.4. */
function contentRange({
  headers,
}: IncomingMessage): { start: number; total: number | undefined } | undefined {
  const match = /^bytes (?:(\d+)-\d+|\*)\/(\d+|\*)$/.exec(headers['content-range'] ?? '');
  if (match === null) return undefined;
  return { start: Number(match[1] ?? -1), total: match[2] === '*' ? undefined : Number(match[2]) };
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}
