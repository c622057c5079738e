import type { FramelaneClient } from './framelane-client.ts';

/** Paths by the prefix of an id. */
const PLACES = { vid: '/videos', key: '/api-keys', whk: '/webhooks', wmk: '/watermarks' };
const ID_FIELD = /"(?:id|videoId)":"((vid|key|whk|wmk)_\w+)"/g;

/** Finds what shell lines created, by the ids in their output, and deletes it. */
export class CreatedResources {
  readonly #client: FramelaneClient;
  readonly #paths = new Set<string>();

  constructor(client: FramelaneClient) {
    this.#client = client;
  }

  /** Records the ids in an output. */
  record(output: string): void {
    for (const [, id, kind] of output.matchAll(ID_FIELD)) {
      this.#paths.add(`${PLACES[kind as keyof typeof PLACES]}/${id}`);
    }
  }

  /** Deletes everything recorded. Ignores what does not exist. Throws at the end if something could not be deleted. */
  async remove(): Promise<void> {
    const refused: string[] = [];
    for (const path of this.#paths) {
      const { ok, status } = await this.#client.call('DELETE', path);
      if (!ok && status !== 404) refused.push(`DELETE ${path}: status ${status}`);
    }
    this.#paths.clear();
    if (refused.length > 0) throw new Error(refused.join('\n'));
  }
}
