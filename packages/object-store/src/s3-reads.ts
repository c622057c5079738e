import { Agent as HttpAgent, get as httpGet, type IncomingMessage, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, get as httpsGet } from 'node:https';
import { GetObjectCommand, type GetObjectCommandOutput, type S3Client } from '@aws-sdk/client-s3';
import { getEndpointFromInstructions } from '@smithy/core/endpoints';
import { SignatureV4 } from '@smithy/signature-v4';
import type { ByteRange } from './object-store.ts';
import { backOff } from './s3-retries.ts';

/** Limits of the connections. Times in milliseconds. */
export type ReadLimits = { maxConnections: number; connectTimeout: number; idleTimeout: number };

/** An opened object, as the SDK describes it. */
export type OpenedObject = Pick<
  GetObjectCommandOutput,
  'ETag' | 'LastModified' | 'ContentLength' | 'ContentRange'
> & { Body: IncomingMessage };

type Signer = Pick<SignatureV4, 'sign'>;
type SignedGet = { path: string; headers: Record<string, string> };

/**
 * Sends the first attempt of a read, with half the processor time that the SDK needs. It handles only success. After any other response the
 * caller repeats the request with the SDK, which knows the errors of S3 and retries.
 */
export class S3Reads {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #limits: ReadLimits;
  readonly #signer: Signer;
  readonly #http: HttpAgent;
  readonly #https: HttpsAgent;
  #base: Promise<URL> | undefined;

  /** Takes endpoint, region, credentials and clock from the configuration of `client`. */
  constructor(client: S3Client, bucket: string, limits: ReadLimits) {
    const { region, credentials, sha256 } = client.config;
    this.#client = client;
    this.#bucket = bucket;
    this.#limits = limits;
    this.#signer = new SignatureV4({ service: 's3', region, credentials, sha256, uriEscapePath: false });
    const connections = { keepAlive: true, maxSockets: limits.maxConnections, timeout: limits.idleTimeout };
    this.#http = new HttpAgent(connections);
    this.#https = new HttpsAgent(connections);
  }

  /** The object or the range, or null if the request has to be repeated. If the failure may be temporary, it backs off first. */
  async get(key: string, range?: ByteRange): Promise<OpenedObject | null> {
    this.#base ??= baseUrl(this.#client, this.#bucket);
    const base = await this.#base;
    // The SDK corrects the clock when the server refuses a request for its time.
    const now = new Date(Date.now() + this.#client.config.systemClockOffset);
    const request = await signGet(this.#signer, { base, key, now, ...(range && { range }) });
    const response = await this.#send(base, request).catch(() => null);
    if (response?.statusCode === 200 || response?.statusCode === 206) return toObject(response);
    // Frees the connection.
    response?.resume();
    const { statusCode = 500 } = response ?? {};
    if (statusCode >= 500 || statusCode === 429) await backOff();
    return null;
  }

  /** Closes the connections. */
  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  #send({ protocol, hostname, port }: URL, request: SignedGet): Promise<IncomingMessage> {
    const { connectTimeout, idleTimeout: timeout } = this.#limits;
    const isTls = protocol === 'https:';
    const options: RequestOptions = {
      ...request,
      // An IPv6 address has brackets in a URL only.
      host: hostname.replace(/^\[|\]$/g, ''),
      port,
      timeout,
      agent: isTls ? this.#https : this.#http,
    };
    return new Promise((resolve, reject) => {
      const sent = (isTls ? httpsGet : httpGet)(options, resolve);
      sent.on('error', reject);
      sent.once('timeout', () => sent.destroy(new Error('The connection to the object store is idle')));
      sent.once('socket', (socket) => {
        if (!socket.connecting) return;
        socket.setTimeout(connectTimeout);
        socket.once('connect', () => socket.setTimeout(timeout));
      });
    });
  }
}

/** The URL of a bucket as the SDK addresses it: in the host name or in the path. */
export async function baseUrl(client: S3Client, bucket: string): Promise<URL> {
  // The SDK needs some key.
  const input = { Bucket: bucket, Key: 'key' };
  return (await getEndpointFromInstructions(input, GetObjectCommand, client.config)).url;
}

/** A request for an object below `base`. An object key needs no escapes. */
export async function signGet(
  signer: Signer,
  { base, key, now, range }: { base: URL; key: string; now: Date; range?: ByteRange },
): Promise<SignedGet> {
  const path = `${base.pathname.replace(/\/$/, '')}/${key}`;
  const { headers } = await signer.sign(
    {
      method: 'GET',
      protocol: base.protocol,
      hostname: base.hostname,
      path,
      headers: { host: base.host, ...(range && { range: `bytes=${range.start}-${range.end}` }) },
    },
    { signingDate: now },
  );
  return { path, headers };
}

function toObject(response: IncomingMessage): OpenedObject {
  const {
    etag,
    'last-modified': modified,
    'content-length': length,
    'content-range': range,
  } = response.headers;
  return {
    ETag: etag,
    LastModified: modified === undefined ? undefined : new Date(modified),
    ContentLength: length === undefined ? undefined : Number(length),
    ContentRange: range,
    Body: response,
  };
}
