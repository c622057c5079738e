import type { RedeemTicketResponse } from '@framelane/contracts/internal-api';
import { Problem } from '@framelane/service-kit/problem';
import type { Request, Response } from 'express';
import type { StoredSource } from './multer-storage.ts';
import { contentLength, Transfer, type TransferDeps } from './transfer.ts';
import { engineStopping, tokenInvalid, tokenMissing, tooManyUploads } from './upload-problems.ts';

/** The longest token the control plane is asked about. */
const MAX_TOKEN_LENGTH = 200;

/** A file that was taken in. */
export type Receipt = { videoId: string; bytes: number; receivedAt: Date };

/** Takes files in, each with its own ticket, and knows which are under way. */
export class Uploads {
  readonly #deps: TransferDeps;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  #closed = false;

  constructor(deps: TransferDeps) {
    this.#deps = deps;
  }

  /** Takes the file of a request in. Throws the Problem to answer with, which leaves the token usable. */
  async receive(req: Request, res: Response): Promise<Receipt> {
    const receiving = this.#receive(req, res);
    this.#underWay.add(receiving);
    try {
      return await receiving;
    } finally {
      this.#underWay.delete(receiving);
    }
  }

  /** Takes no more files, gives those under way `graceMs` to arrive, then breaks them off and frees their tokens. */
  async stop(graceMs: number): Promise<void> {
    this.#closed = true;
    const timer = setTimeout(() => this.#stop.abort(engineStopping()), graceMs);
    await Promise.allSettled(this.#underWay);
    clearTimeout(timer);
  }

  /** Rejects once no more files are taken. */
  async check(): Promise<void> {
    if (this.#closed) throw engineStopping();
  }

  /** Asks for the ticket of an upload whose body has not been read. */
  async #admit(req: Request): Promise<RedeemTicketResponse> {
    await this.check();
    // This one is among them.
    if (this.#underWay.size > this.#deps.limits.atOnce) throw tooManyUploads();
    const token = readToken(req);
    return this.#deps.controlPlane.redeemTicket({
      token,
      contentLength: contentLength(req),
      clientAddress: req.ip ?? null,
    });
  }

  async #receive(req: Request, res: Response): Promise<Receipt> {
    const { logger, metrics } = this.#deps;
    const startedAt = performance.now();
    const ticket = await this.#admit(req).catch((error: unknown) => {
      metrics.uploadRefused(codeOf(error));
      throw error;
    });
    metrics.uploadBegan();
    const transfer = new Transfer(this.#deps, ticket, this.#stop.signal);
    const seconds = () => Math.round(performance.now() - startedAt) / 1000;
    const facts = () => ({
      requestId: req.id,
      videoId: ticket.videoId,
      transferId: ticket.transferId,
      bytes: transfer.bytes,
      seconds: seconds(),
    });
    let source: StoredSource;
    try {
      source = await transfer.run(req, res);
    } catch (error) {
      const why = error instanceof Problem ? { code: error.code, cause: error.cause } : { error };
      metrics.uploadBroken(codeOf(error));
      logger.warn('upload.broken', { ...facts(), ...why });
      throw error;
    }
    metrics.uploadReceived(seconds());
    logger.info('upload.received', facts());
    return { videoId: ticket.videoId, bytes: source.bytes, receivedAt: new Date() };
  }
}

function codeOf(error: unknown): string {
  return error instanceof Problem ? error.code : 'internal_error';
}

function readToken(req: Request): string {
  const token = req.get('x-upload-token');
  if (!token) throw tokenMissing();
  if (token.length > MAX_TOKEN_LENGTH) throw tokenInvalid();
  return token;
}
