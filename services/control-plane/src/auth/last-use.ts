import type { Logger } from '@framelane/service-kit/logger';

/** A use is stored at most this often. */
export const USE_INTERVAL_SECONDS = 60;

/** Stores when credentials were last used. Requests do not wait for it; a failure is only logged. */
export class LastUse {
  readonly #store: (id: string) => Promise<void>;
  readonly #logger: Logger;
  /** Credentials whose use is being stored; concurrent requests do not store it again. */
  readonly #inProgress = new Set<string>();

  constructor(store: (id: string) => Promise<void>, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Stores a use of the credential, if one is due. */
  record({ id, is_use_due }: { id: string; is_use_due: boolean }): void {
    if (!is_use_due || this.#inProgress.has(id)) return;
    this.#inProgress.add(id);
    this.#store(id)
      .catch((error) => this.#logger.warn('credential.use_not_stored', { credentialId: id, error }))
      .finally(() => this.#inProgress.delete(id));
  }
}
