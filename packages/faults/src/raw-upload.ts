import { CLOSING_BOUNDARY, filePartHead } from '@framelane/test-kit/multipart';
import { RawClient } from '@framelane/test-kit/raw-upload-client';

/** Some responses come only after a timeout of the services. */
const RESPONSE_TIMEOUT_SECONDS = 90;

/** The response to an upload: its status and, for a refusal, its error code. */
export type Outcome = { status: number; code: string | undefined };

/** A body and its headers. */
export type RawUpload = {
  token?: string | undefined;
  body: Buffer;
  /** Content-Length: the length of the body by default; null for a chunked body. */
  length?: number | null;
  contentType?: string;
};

/** Sends a body, which may be invalid. Resolves with the response. */
export async function sendRaw(port: number, upload: RawUpload): Promise<Outcome> {
  const { token, body, length = body.byteLength, contentType } = upload;
  const client = await RawClient.connect(port);
  try {
    client.sendHead({
      ...(token !== undefined && { token }),
      length,
      ...(contentType !== undefined && { headers: { 'Content-Type': contentType } }),
    });
    if (length === null) {
      client.sendChunk(body);
      client.send('0\r\n\r\n');
    } else {
      client.send(body);
    }
    return await outcomeOf(client);
  } finally {
    client.disconnect();
  }
}

export async function outcomeOf(client: RawClient): Promise<Outcome> {
  const { status, body } = await client.response(RESPONSE_TIMEOUT_SECONDS);
  return { status, code: body.code as string | undefined };
}

/** An upload. The test decides how much of it is sent at a time. */
export class HeldUpload {
  readonly client: RawClient;
  readonly #body: Buffer;
  #sent = 0;

  /** Sends the head of the request for the whole file. */
  static async begin(port: number, { token, file }: { token: string; file: Buffer }): Promise<HeldUpload> {
    const body = Buffer.concat([Buffer.from(filePartHead()), file, Buffer.from(`\r\n${CLOSING_BOUNDARY}`)]);
    const held = new HeldUpload(await RawClient.connect(port), body);
    held.client.sendHead({ token, length: body.byteLength });
    return held;
  }

  private constructor(client: RawClient, body: Buffer) {
    this.client = client;
    this.#body = body;
  }

  /** Sends the body up to this fraction of it, 0..1. Resolves when the operating system has the bytes, or when the connection is closed. */
  async sendUntil(part: number): Promise<void> {
    const end = Math.round(part * this.#body.byteLength);
    const piece = this.#body.subarray(this.#sent, end);
    this.#sent = end;
    const { socket } = this.client;
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    const done = () => resolve();
    socket.once('close', done);
    socket.write(piece, done);
    await taken;
    socket.off('close', done);
  }
}
