import type { Database } from '../db/database.ts';
import { hasEnded, recordPurged } from './ended-transfers.store.ts';
import { holdVideo, lockTicketOf, type TransferIds } from './upload-tickets.store.ts';

/** What the purge of a video knows about transfers that ended unregistered. */
export class EndedTransfers {
  readonly #db: Database;

  constructor({ db }: { db: Database }) {
    this.#db = db;
  }

  /** Whether nothing that the transfer has stored can become part of a source. It stays so forever. */
  hasEnded(transfer: TransferIds): Promise<boolean> {
    return hasEnded(this.#db, transfer);
  }

  /**
   * Ends a pass of the purge of a video. Its ended transfers count no longer, unless `endPass` resolves with false: then another one has ended
   * meanwhile.
   */
  async endPass(videoId: string, endPass: (trx: Database) => Promise<boolean>): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      // In the order of all moves: the video, its ticket, its purge.
      await holdVideo(trx, videoId);
      await lockTicketOf(trx, videoId);
      if (await endPass(trx)) await recordPurged(trx, videoId);
    });
  }
}
