import type { FramelaneClient } from './framelane-client.ts';

/** Where to delete what has an id of this kind. */
const PLACES = { vid: '/videos', key: '/api-keys', whk: '/webhooks' };
const ID_FIELD = /"(?:id|videoId)":"((vid|key|whk)_\w+)"/g;

/** Remembers what shell lines have made, by the ids in what they print, to remove it afterwards. */
export class Leftovers {
  readonly #client: FramelaneClient;
  readonly #paths = new Set<string>();

  constructor(client: FramelaneClient) {
    this.#client = client;
  }

  /** Takes note of the answers to requests that make something. */
  note(output: string): void {
    for (const [, id, kind] of output.matchAll(ID_FIELD)) {
      this.#paths.add(`${PLACES[kind as keyof typeof PLACES]}/${id}`);
    }
  }

  /** Removes it. What is gone already is no matter. */
  async remove(): Promise<void> {
    for (const path of this.#paths) await this.#client.call('DELETE', path);
    this.#paths.clear();
  }
}
