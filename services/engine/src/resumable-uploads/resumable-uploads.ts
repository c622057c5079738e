import type { CreateResumableResponse } from '@framelane/contracts/internal-api';
import { NotResumableError } from '@framelane/object-store/object-store';
import type { Request } from 'express';
import { traceUpload } from '../uploads/trace-upload.ts';
import type { UploadDeps } from '../uploads/transfer.ts';
import { engineStopping, storageFailed, uploadNotResumable } from '../uploads/upload-problems.ts';
import { codeOf, readToken } from '../uploads/uploads.ts';
import type { Checksum, Creation } from './tus-headers.ts';
import { UploadSession } from './upload-session.ts';

/** The state of an upload. `expiresAt` (ISO 8601) is null for a complete one. */
export type UploadState = { offset: number; length: number; metadata: string; expiresAt: string | null };

/** Receives resumable uploads, and keeps track of those that this engine has open. */
export class ResumableUploads {
  readonly #deps: UploadDeps;
  readonly #sessions = new Map<string, UploadSession>();
  /** The last request that opens an upload, by transfer. */
  readonly #opening = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(deps: UploadDeps) {
    this.#deps = deps;
  }

  /** Creates an upload, or finds the unfinished one of the same file. Throws the Problem to respond with. */
  async create(req: Request, creation: Creation): Promise<CreateResumableResponse> {
    return this.#counted(async () => {
      this.#assertOpen();
      const request = { token: readToken(req), ...creation, clientAddress: req.ip ?? null };
      return this.#deps.controlPlane.createResumable(request);
    });
  }

  /** The state of an upload. Ends a body that is being received. Throws the Problem to respond with. */
  async state(req: Request, transferId: string): Promise<UploadState> {
    const settle = (session: UploadSession) => session.settle();
    return this.#continue(req, transferId, settle).catch((error: unknown) => {
      // `uploadTakenOver`: the session has ended meanwhile, for example because a body did not match its checksum, or because the
      // upload was idle. The next session knows the state.
      if (codeOf(error) === 'upload_offset_mismatch') return this.#continue(req, transferId, settle);
      throw error;
    });
  }

  /** Receives a part of a file. Resolves with the state after it. Throws the Problem to respond with. */
  async receive(
    req: Request,
    transferId: string,
    part: { start: number; checksum: Checksum | null; beforeBody: () => void },
  ): Promise<UploadState> {
    return this.#continue(req, transferId, (session) => {
      part.beforeBody();
      return session.receive(req, part.start, part.checksum);
    });
  }

  /** Ends an upload and removes what has arrived. Throws the Problem to respond with. */
  async terminate(req: Request, transferId: string): Promise<void> {
    this.#assertOpen();
    const request = { token: readToken(req), transferId, clientAddress: req.ip ?? null };
    const { sourceKey, checkpoint } = await this.#deps.controlPlane.terminateResumable(request);
    await this.#sessions.get(transferId)?.pause();
    if (checkpoint === null) return;
    // The purge of the video removes what remains.
    await this.#deps.objects.discardResumable(sourceKey, checkpoint).catch((error: unknown) => {
      this.#deps.logger.warn('upload.parts_not_removed', { transferId, error });
    });
  }

  /** Refuses requests from now on. Uploads that are open pause, so that other engines continue them. Never throws. */
  async stop(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#opening.values());
    await Promise.allSettled([...this.#sessions.values()].map((session) => session.pause()));
  }

  async #continue(
    req: Request,
    transferId: string,
    work: (session: UploadSession) => Promise<void>,
  ): Promise<UploadState> {
    const found = await this.#counted(() => this.#serially(transferId, () => this.#open(req, transferId)));
    const { length, metadata, session } = found;
    if (session === null) return { offset: length, length, metadata, expiresAt: null };
    await traceUpload(this.#deps.tracing, req, session.origin, () => work(session)).catch((error: unknown) =>
      this.#endIfLost(req, transferId, error),
    );
    const { offset } = session;
    return { offset, length, metadata, expiresAt: offset === length ? null : session.expiresAt };
  }

  /** Opens the upload, or confirms that this engine still has it open. A complete upload has no session. */
  async #open(
    req: Request,
    transferId: string,
  ): Promise<{ length: number; metadata: string; session: UploadSession | null }> {
    this.#assertOpen();
    const { controlPlane, slots } = this.#deps;
    const known = this.#sessions.get(transferId);
    const request = { token: readToken(req), transferId, clientAddress: req.ip ?? null };
    if (known !== undefined) {
      const { length, metadata, ...opened } = await controlPlane.openResumable({
        ...request,
        epoch: known.epoch,
      });
      if (opened.status === 'complete') return { length, metadata, session: null };
      if (!known.isEnded && known.epoch === opened.epoch) return { length, metadata, session: known };
      // The session has ended, or another engine has had the upload since. `pause` may release the lease that the call above has
      // renewed, so this engine opens the upload once more, in a new epoch.
      await known.pause();
    }
    // Takes a slot first, so that an engine without a free slot does not take the upload from another engine.
    const slot = slots.take();
    try {
      const opened = await controlPlane.openResumable({ ...request, epoch: null });
      const { length, metadata } = opened;
      if (opened.status === 'complete') {
        slot.free();
        return { length, metadata, session: null };
      }
      const session = await UploadSession.open(this.#deps, transferId, opened, () => {
        slot.free();
        if (this.#sessions.get(transferId) === session) this.#sessions.delete(transferId);
      });
      slot.admit(session);
      this.#sessions.set(transferId, session);
      return { length, metadata, session };
    } catch (error) {
      slot.free();
      return this.#endIfLost(req, transferId, error);
    }
  }

  /** Throws the Problem to respond with. Ends an upload that cannot be continued, so that the next creation starts over. */
  async #endIfLost(req: Request, transferId: string, error: unknown): Promise<never> {
    if (!(error instanceof NotResumableError)) throw storageFailed(error);
    const request = { token: readToken(req), transferId, clientAddress: req.ip ?? null };
    await this.#deps.controlPlane.terminateResumable(request);
    throw uploadNotResumable(error);
  }

  /** Two requests must not open the same upload at the same time: the second would take it from the first. */
  #serially<T>(transferId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#opening.get(transferId) ?? Promise.resolve();
    const running = before.then(work);
    const last = running
      .catch(() => {})
      .then(() => {
        if (this.#opening.get(transferId) === last) this.#opening.delete(transferId);
      });
    this.#opening.set(transferId, last);
    return running;
  }

  /** Counts a refusal. */
  async #counted<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.#deps.metrics.uploadRefused(codeOf(error));
      throw error;
    }
  }

  #assertOpen(): void {
    if (this.#closed) throw engineStopping();
  }
}
