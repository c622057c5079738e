import { CLOSING_BOUNDARY, filePartHead } from '@framelane/test-kit/multipart';
import { RawClient } from '@framelane/test-kit/raw-upload-client';

/** Some responses come only after a timeout of the services. */
const RESPONSE_LIMIT_SECONDS = 90;

/** What an upload was answered: a status, and the code of a refusal. */
export type Outcome = { status: number; code: string | undefined };

/** A body, and how it is announced. */
export type RawUpload = {
  token?: string | undefined;
  body: Buffer;
  /** Content-Length; null for a body in chunks, and what the body has when not given. */
  length?: number | null;
  contentType?: string;
};

/** Sends bytes as they are, right or wrong, and resolves with what they are answered. */
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
    client.vanish();
  }
}

export async function outcomeOf(client: RawClient): Promise<Outcome> {
  const { status, body } = await client.response(RESPONSE_LIMIT_SECONDS);
  return { status, code: body.code as string | undefined };
}

/** An upload that goes on only as far as it is told. */
export class HeldUpload {
  readonly client: RawClient;
  readonly #body: Buffer;
  #sent = 0;

  /** Announces the file; `bytes` of its form are all that comes when they are fewer than it has. */
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

  /** Sends on until that part of it, 0..1, is with the operating system. Also resolves when nobody takes it any more. */
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
