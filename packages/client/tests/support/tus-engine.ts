import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { problem, respondJson, TestServer } from './test-server.ts';

export type Call = { method: string; offset: number; metadata: string | undefined };

/** The tus protocol of the engine, for one ticket. Its state is public. */
export class TusEngine {
  #server: TestServer | undefined;
  readonly calls: Call[] = [];
  /** Handlers of the next requests, by method. They respond, or return true to let the engine respond. */
  readonly faults: { method: string; handle: (req: IncomingMessage, res: ServerResponse) => unknown }[] = [];
  #length = 0;
  #metadata: string | undefined;
  #hash = createHash('sha256');
  /** Bytes that have arrived. */
  offset = 0;
  /** Number of the current upload; an upload of another file is a new one. */
  uploads = 0;

  static async start(): Promise<TusEngine> {
    const engine = new TusEngine();
    engine.#server = await TestServer.start((req, res) => engine.#handle(req, res));
    return engine;
  }

  get ticket() {
    const url = this.#server?.url;
    return {
      uploadUrl: `${url}/upload`,
      tusUrl: `${url}/files`,
      uploadToken: 'ut_secret',
      videoId: 'vid_1',
    };
  }

  /** SHA-256 of what has arrived. */
  get sha256(): string {
    return this.#hash.copy().digest('hex');
  }

  /** Loses all that has arrived. */
  forget(): void {
    this.offset = 0;
    this.#length = 0;
    this.#hash = createHash('sha256');
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { method = '', headers } = req;
    const metadata = headers['upload-metadata']?.toString();
    this.calls.push({ method, offset: this.offset, metadata });
    const fault = this.faults.findIndex((each) => each.method === method);
    if (fault >= 0 && (await this.faults.splice(fault, 1)[0]?.handle(req, res)) !== true) return;
    if (headers['x-upload-token'] !== 'ut_secret' || headers['tus-resumable'] !== '1.0.0') {
      respondJson(res, 401, problem(401, 'upload_token_invalid'));
    } else if (method === 'POST') {
      const length = Number(headers['upload-length']);
      if (length !== this.#length || metadata !== this.#metadata) {
        this.forget();
        this.uploads += 1;
      }
      this.#length = length;
      this.#metadata = metadata;
      res.writeHead(201, { Location: `/files/${this.uploads}` }).end();
    } else if (req.url !== `/files/${this.uploads}`) {
      respondJson(res, 410, problem(410, 'upload_ended'));
    } else if (method === 'HEAD') {
      res.writeHead(200, { 'Upload-Offset': this.offset }).end();
    } else {
      await this.#receive(req, res);
    }
  }

  async #receive(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (Number(req.headers['upload-offset']) !== this.offset) {
      req.resume();
      respondJson(res, 409, problem(409, 'upload_offset_mismatch'), { Connection: 'close' });
      return;
    }
    try {
      for await (const chunk of req) {
        this.#hash.update(chunk);
        this.offset += chunk.length;
      }
    } catch {
      return;
    }
    res.writeHead(204, { 'Upload-Offset': this.offset }).end();
  }
}
