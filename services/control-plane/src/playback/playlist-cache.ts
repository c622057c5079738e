import { LRUCache } from 'lru-cache';
import { withToken } from './playback-token.ts';

/** Characters of all cached playlists together. A media playlist of one hour has about 15,000. */
const MAX_CHARACTERS = 16_000_000;

/** Marks the places of the token. No token and no URL contains it. */
const ANY_TOKEN = '\0';

/**
 * Rendered playlists, least recently used first out. `playback_version` is part of their key, so a changed playlist is rendered
 * again. They are cached without a token, so all viewers share them.
 */
export class PlaylistCache {
  /** Playlists, split where a token is inserted. */
  readonly #cache = new LRUCache<string, string[]>({
    maxSize: MAX_CHARACTERS,
    sizeCalculation: (parts) => parts.reduce((sum, part) => sum + part.length, parts.length),
  });

  /** The playlist `name` of a video, with the token in its URLs. `render` must use the token that it receives, a placeholder. */
  async get(
    { videoId, version, name }: { videoId: string; version: number; name: string },
    token: string | undefined,
    render: (token: string) => Promise<string>,
  ): Promise<string> {
    const key = `${videoId} ${version} ${name}`;
    let parts = this.#cache.get(key);
    if (parts === undefined) {
      parts = (await render(ANY_TOKEN)).split(withToken('', ANY_TOKEN));
      this.#cache.set(key, parts);
    }
    return parts.join(withToken('', token));
  }
}
