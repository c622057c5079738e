import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedImport } from '@framelane/contracts/internal-api';
import { inEntrySpan } from '@framelane/service-kit/tracing';
import { slowHolders } from '../uploads/slow-holder.ts';
import { type ImportDeps, ImportJob } from './import-job.ts';

/** Claims imports and fetches several at the same time. */
export class Imports {
  readonly #deps: ImportDeps;
  readonly #inProgress = new Map<ImportJob, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(deps: ImportDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Claims no more imports. */
  close(): void {
    this.#closing.abort();
  }

  /** Lets imports in progress complete within `graceMs`, then hands them back. Call `close` first. */
  async drain(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(new Error('The engine stops')), graceMs);
    await this.#running;
    await Promise.all(this.#inProgress.values());
    clearTimeout(timer);
  }

  async #run(): Promise<void> {
    const closing = this.#closing.signal;
    const { maxConcurrent, pollSeconds } = this.#deps.settings;
    let failing = false;
    // Until its response arrives, a claim is repeated with the same id: the control plane may have performed it.
    let claimId = randomUUID();
    while (!closing.aborted) {
      let claimed: ClaimedImport | null = null;
      try {
        if (this.#inProgress.size < maxConcurrent) {
          claimed = await this.#deps.controlPlane.claimImport({ claimId });
          claimId = randomUUID();
        } else await this.#makeRoom();
        failing = false;
      } catch (error) {
        // One warning is enough for an outage.
        this.#deps.logger.log(failing ? 'debug' : 'warn', 'import.claim_failed', { error });
        failing = true;
      }
      if (claimed !== null) this.#begin(claimed);
      else await delay(pollSeconds * 1000, undefined, { signal: closing }).catch(() => {});
    }
  }

  /** Hands a slow import back if one of a workspace with fewer imports waits. */
  async #makeRoom(): Promise<void> {
    const { controlPlane, limits } = this.#deps;
    const [slow] = slowHolders([...this.#inProgress.keys()], limits.contendedBytesPerSecond);
    if (slow && (await controlPlane.doesOtherImportWait(slow))) slow.giveWay();
  }

  #begin(claimed: ClaimedImport): void {
    const job = new ImportJob(this.#deps, claimed, this.#stop.signal);
    const { videoId, traceparent: parent } = claimed;
    const attributes = { 'framelane.video.id': videoId, 'framelane.import.tries': claimed.tries };
    // Only a traced request of an import has one: without a parent, each try would begin a trace.
    const tracing = parent === undefined ? undefined : this.#deps.tracing;
    this.#inProgress.set(
      job,
      inEntrySpan(tracing, 'import', { parent, attributes }, () => job.run()).finally(() =>
        this.#inProgress.delete(job),
      ),
    );
  }
}
