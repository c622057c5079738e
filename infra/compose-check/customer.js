import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { FramelaneClient } from '../../packages/acceptance/src/framelane-client.ts';
import { checkStream, complaints } from '../../packages/hls-conformance/src/check.ts';

/** The whole machine may be busy, and an engine may die on the way. */
const READY_LIMIT_MS = 300_000;

/** Uses the system as customers do, from outside. */
export class Customer {
  #client;
  #signal;

  constructor(target, signal) {
    this.#client = new FramelaneClient({ ...target, objectsDir: null });
    this.#signal = signal;
  }

  /** Sends a file. Resolves with the id of the video once it is received. */
  async upload(file) {
    const ticket = await this.#client.requestTicket({ filename: basename(file) });
    const answer = await this.#client.upload(ticket, await openAsBlob(file), basename(file));
    if (answer.status !== 202)
      throw new Error(`The upload was answered ${answer.status}: ${await answer.text()}`);
    return ticket.videoId;
  }

  /** Waits until a video can be played; rejects when it fails instead. */
  async ready(id) {
    const limit = AbortSignal.timeout(READY_LIMIT_MS);
    return this.#client.api.waitUntilReady(id, { signal: AbortSignal.any([limit, this.#signal]) });
  }

  /** Fetches all of a stream and holds it to the rules. */
  async play({ hls }) {
    const { report } = await checkStream(hls, { profile: 'framelane' });
    const broken = complaints(report);
    if (broken.length > 0) throw new Error(`${hls} breaks rules:\n${broken.join('\n')}`);
  }
}
