import { sourcePrefix } from '@framelane/object-store/object-keys';
import { formWith } from '@framelane/test-kit/multipart';
import { until } from '@framelane/test-kit/until';
import { type Ticket, WORKSPACE_ID } from './api.ts';
import type { Cluster } from './cluster.ts';
import { HeldUpload, type Outcome, outcomeOf, type RawUpload, sendRaw } from './raw-upload.ts';

/** Requests tickets of a cluster and sends files to its engines: `clip` by default. */
export class Uploader {
  readonly #cluster: Cluster;
  readonly #clip: Buffer;

  constructor(cluster: Cluster, clip: Buffer) {
    this.#cluster = cluster;
    this.#clip = clip;
  }

  tickets(count: number): Promise<Ticket[]> {
    return Promise.all(Array.from({ length: count }, () => this.#cluster.api.ticket()));
  }

  /** Sends a form. */
  send(upload: Omit<RawUpload, 'body'> & { body?: Buffer }): Promise<Outcome> {
    return sendRaw(this.#cluster.proxies.uploads.port, { body: formWith(this.#clip), ...upload });
  }

  /** Sends a form until the response is final: on a busy machine, a part of the cluster may not respond before the timeout. */
  sendUntilFinal(upload: Omit<RawUpload, 'body'> & { body?: Buffer }): Promise<Outcome> {
    return until(
      async () => {
        const outcome = await this.send(upload);
        return !isTemporary(outcome) && outcome;
      },
      { what: 'a response that is not temporary' },
    );
  }

  /** Retries while the cluster recovers or the token is leased. Resolves when the file is accepted. */
  async sendUntilAccepted({ uploadToken }: Ticket): Promise<void> {
    await until(
      async () => {
        const outcome = await this.send({ token: uploadToken }).catch(() => undefined);
        if (outcome?.status === 202 || outcome?.code === 'upload_token_used') return true;
        if (outcome !== undefined && !isTemporary(outcome)) throw refused(outcome);
        return false;
      },
      { what: 'the file was accepted', seconds: 120 },
    );
  }

  /** Resolves when the videos are ready. */
  async expectReady(tickets: readonly Ticket[]): Promise<void> {
    for (const { videoId } of tickets) await this.#cluster.api.client.videos.waitUntilReady(videoId);
  }

  /** The keys of the stored files of a ticket's uploads. */
  sourcesOf({ videoId }: Ticket): string[] {
    const prefix = sourcePrefix(WORKSPACE_ID, videoId);
    return [...this.#cluster.storage.objects.keys()].filter((key) => key.startsWith(prefix));
  }
}

/**
 * Sends a file up to this fraction of the form, 0..1. Resolves once an engine has leased the ticket for it. Retries while the previous
 * upload of the ticket still has its lease, or the cluster recovers.
 */
export async function holdUpload(
  cluster: Cluster,
  { videoId, uploadToken }: Ticket,
  { file, fraction, port = cluster.proxies.uploads.port }: { file: Buffer; fraction: number; port?: number },
): Promise<HeldUpload> {
  const transfer = async () => {
    const select = 'select transfer_id as id from upload_tickets where video_id = $1';
    const [ticket] = await cluster.postgres.query<{ id: string | null }>(select, [videoId]);
    return ticket?.id ?? undefined;
  };
  return until(
    async () => {
      const previous = await transfer();
      const held = await HeldUpload.begin(port, { token: uploadToken, file });
      await held.sendUntil(fraction);
      const hasEnded = () => held.client.received !== '' || held.client.closed;
      await until(async () => hasEnded() || ![undefined, previous].includes(await transfer()), {
        what: 'the upload was leased or refused',
      });
      if (!hasEnded()) return held;
      const refusal = held.client.received === '' ? undefined : await outcomeOf(held.client);
      held.client.disconnect();
      if (refusal !== undefined && !isTemporary(refusal)) throw refused(refusal);
      return undefined;
    },
    { what: 'an engine leased the ticket' },
  );
}

/** Whether the ticket is leased, or a part of the cluster did not respond before the timeout. */
function isTemporary({ status }: Outcome): boolean {
  return status === 409 || status === 503;
}

function refused({ status, code }: Outcome): Error {
  return new Error(`Refused: ${status} ${code}`);
}

/**
 * Resolves when the engine has renewed the lease of a held upload. This shows that it has received the response with the lease. Throws
 * if the lease expires, which ends the upload.
 */
export async function untilLeaseRenewed(cluster: Cluster, { videoId }: Ticket): Promise<void> {
  const lease = async () => {
    const [ticket] = await cluster.postgres.query<{ at: Date; expired: boolean }>(
      'select lease_expires_at as at, lease_expires_at <= now() as expired from upload_tickets where video_id = $1',
      [videoId],
    );
    if (ticket === undefined || ticket.expired)
      throw new Error(`The lease of the upload of ${videoId} has expired`);
    return Number(ticket.at);
  };
  const first = await lease();
  await until(async () => (await lease()) > first, { what: 'the engine renewed the lease' });
}
