import { MAX_TOKEN_LENGTH, type RedeemTicketResponse } from '@framelane/contracts/internal-api';
import { Problem } from '@framelane/service-kit/problem';
import type { Request, Response } from 'express';
import type { StoredSource } from './multer-storage.ts';
import { traceUpload } from './trace-upload.ts';
import { contentLength, Transfer, type UploadDeps } from './transfer.ts';
import { engineStopping, tokenInvalid, tokenMissing } from './upload-problems.ts';
import type { UploadSlot } from './upload-slots.ts';

/** A file that is stored and registered. */
export type Receipt = { videoId: string; bytes: number; receivedAt: Date };

/** Receives uploads, each with its own ticket, and keeps track of those in progress. */
export class Uploads {
  readonly #deps: UploadDeps;
  readonly #inProgress = new Set<Promise<unknown>>();
  readonly #stop = new AbortController();
  #closed = false;

  constructor(deps: UploadDeps) {
    this.#deps = deps;
  }

  /**
   * Receives the file of a request. Throws the Problem to respond with. A failed upload uses up its token only if the control plane
   * registers the file after all (see Registration).
   */
  async receive(req: Request, res: Response): Promise<Receipt> {
    const receiving = this.#receive(req, res);
    this.#inProgress.add(receiving);
    try {
      return await receiving;
    } finally {
      this.#inProgress.delete(receiving);
    }
  }

  /** Refuses new uploads from now on. */
  close(): void {
    this.#closed = true;
  }

  /** After `close`: lets uploads in progress complete within `limitMs`, then aborts them and releases their tickets. */
  async drain(limitMs: number): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(engineStopping()), limitMs);
    await Promise.allSettled(this.#inProgress);
    clearTimeout(timer);
  }

  /** Rejects after `close`. */
  async check(): Promise<void> {
    if (this.#closed) throw engineStopping();
  }

  /** Redeems the ticket of an upload, before its body is read. */
  async #admit(req: Request): Promise<{ ticket: RedeemTicketResponse; slot: UploadSlot }> {
    await this.check();
    const token = readToken(req);
    const slot = this.#deps.slots.take();
    try {
      const ticket = await this.#deps.controlPlane.redeemTicket({
        token,
        contentLength: contentLength(req),
        clientAddress: req.ip ?? null,
      });
      return { ticket, slot };
    } catch (error) {
      slot.free();
      throw error;
    }
  }

  async #receive(req: Request, res: Response): Promise<Receipt> {
    const { logger, tracing, metrics } = this.#deps;
    const startedAt = performance.now();
    const { ticket, slot } = await this.#admit(req).catch((error: unknown) => {
      metrics.uploadRefused(codeOf(error));
      throw error;
    });
    metrics.uploadBegan();
    const transfer = new Transfer(this.#deps, ticket, this.#stop.signal);
    slot.admit(transfer);
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
      source = await traceUpload(tracing, req, ticket, () => transfer.run(req, res));
    } catch (error) {
      const why = error instanceof Problem ? { code: error.code, cause: error.cause } : { error };
      metrics.uploadBroken(codeOf(error));
      logger.warn('upload.broken', { ...facts(), ...why });
      throw error;
    } finally {
      slot.free();
    }
    metrics.uploadReceived(seconds());
    logger.info('upload.received', facts());
    return { videoId: ticket.videoId, bytes: source.bytes, receivedAt: new Date() };
  }
}

/** The code of a Problem, for logs and metrics. */
export function codeOf(error: unknown): string {
  return error instanceof Problem ? error.code : 'internal_error';
}

/** The upload token of a request. Throws a 401 Problem if it is missing or too long. */
export function readToken(req: Request): string {
  const token = req.get('x-upload-token');
  if (!token) throw tokenMissing();
  if (token.length > MAX_TOKEN_LENGTH) throw tokenInvalid();
  return token;
}
