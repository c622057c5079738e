import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { FramelaneClient } from '../../packages/acceptance/src/framelane-client.ts';
import { checkStream, violations } from '../../packages/hls-conformance/src/check.ts';
import { until } from '../../packages/test-kit/src/until.ts';

/** Generous: the machine may be busy, and an engine may be killed meanwhile. */
const READY_TIMEOUT_MS = 300_000;

/** Uses the system like a customer, through its public API. */
export class Customer {
  #client;
  #signal;

  constructor(target, signal) {
    this.#client = new FramelaneClient({ ...target, objectsDir: null });
    this.#signal = signal;
  }

  /** Uploads a file. Resolves with the id of the video. */
  async upload(file) {
    const ticket = await this.#client.requestTicket({ filename: basename(file) });
    const blob = await openAsBlob(file);
    // On a busy machine a service may exceed a timeout. After a 503 the ticket may be free or leased. If the file was stored late, the
    // ticket is used.
    const response = await until(async () => {
      const attempt = await this.#client.upload(ticket, blob, basename(file));
      return [409, 503].includes(attempt.status) ? undefined : attempt;
    });
    const text = await response.text();
    if (response.status !== 202 && !text.includes('"upload_token_used"'))
      throw new Error(`The upload failed with status ${response.status}: ${text}`);
    return ticket.videoId;
  }

  /** Waits until a video is ready. Rejects when it fails. */
  async ready(id) {
    const limit = AbortSignal.timeout(READY_TIMEOUT_MS);
    return this.#client.api.videos.waitUntilReady(id, { signal: AbortSignal.any([limit, this.#signal]) });
  }

  /** Fetches a whole stream and checks it. On a busy machine a service may exceed a timeout; players repeat a request after a 503, too. */
  async play({ hls }) {
    const broken = await until(
      async () => {
        const { report } = await checkStream(hls, { profile: 'framelane' });
        const found = violations(report);
        return found.some((violation) => violation.includes('responded with 503')) ? undefined : found;
      },
      { what: `${hls} without a 503` },
    );
    if (broken.length > 0) throw new Error(`${hls} breaks rules:\n${broken.join('\n')}`);
  }
}
