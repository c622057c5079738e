import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { fetchSmall } from './loading/fetching.ts';
import { HttpClient } from './loading/http-client.ts';
import { loadInitialization } from './loading/load-initialization.ts';
import { loadSegment, notLoaded, type SegmentKey } from './loading/load-segment.ts';
import { sendPlaybackRequests } from './loading/playback-requests.ts';
import type { Initialization } from './media/mp4/initialization.ts';
import { isMasterTag, readMasterPlaylist, type SessionData } from './playlists/master-playlist.ts';
import {
  type ListedSegment,
  type MapTag,
  type MediaPlaylist,
  readMediaPlaylist,
} from './playlists/media-playlist.ts';
import { decodePlaylist, isTag, readLines } from './playlists/playlist-text.ts';
import {
  type Captions,
  type CaptionsSegment,
  type LoadedInitialization,
  type LoadedKey,
  type LoadedResponse,
  type LoadedSegment,
  type PlaylistFile,
  type Presentation,
  type Rendition,
  type SessionDataFile,
  shortAddress,
} from './presentation.ts';

export type LoadOptions = {
  /** Sent to the origin of the URL, and to no other. */
  headers?: Readonly<Record<string, string>>;
  /** Renditions to read at the same time, each of them one segment at a time: a whole number above 0. Default 4. */
  concurrency?: number;
  /** Seconds until a server that sends nothing has timed out. */
  timeoutSeconds?: number;
  /** Whether to send HEAD, range and conditional requests as well: about ten more for each rendition. */
  playbackRequests?: boolean;
};

/** The URL does not return a playlist. */
export class NotAPlaylistError extends Error {}

const PLAYLIST_LIMIT = 16 * 1024 ** 2;
/** A key has 16 bytes; more than this is certainly something else. */
const KEY_LIMIT = 64 * 1024;
const KEY_BYTES = 16;
const CAPTIONS_LIMIT = 16 * 1024 ** 2;
const SESSION_DATA_LIMIT = 16 * 1024 ** 2;

/**
 * Fetches a presentation and measures it. What cannot be fetched or read is part of the result. Throws a NotAPlaylistError only if
 * the URL does not return a playlist.
 */
export async function loadPresentation(url: string, options: LoadOptions = {}): Promise<Presentation> {
  const client = new HttpClient({
    ...(options.headers && { headers: options.headers }),
    origin: new URL(url).origin,
    timeoutMs: 1000 * (options.timeoutSeconds ?? 30),
  });
  try {
    return await new PresentationLoader(client, url, options).load();
  } finally {
    client.close();
  }
}

class PresentationLoader {
  readonly #client: HttpClient;
  readonly #url: string;
  readonly #options: LoadOptions;
  readonly #responses: LoadedResponse[] = [];
  readonly #notes: string[] = [];
  readonly #keys = new Map<string, Promise<Buffer | null>>();
  readonly #loadedKeys: LoadedKey[] = [];
  /** By their keys and URLs. */
  readonly #initializations = new Map<string, Promise<Initialization | null>>();
  readonly #loadedInitializations: LoadedInitialization[] = [];

  constructor(client: HttpClient, url: string, options: LoadOptions) {
    this.#client = client;
    this.#url = url;
    this.#options = options;
  }

  async load(): Promise<Presentation> {
    const file = await this.#playlistFile('master playlist', this.#url);
    if (file === null) throw new NotAPlaylistError(this.#whyNoPlaylist());
    const tags = file.lines.filter(isTag);
    if (tags.length === 0) throw new NotAPlaylistError(`This is not a playlist: ${this.#place(this.#url)}`);
    const master = tags.some(isMasterTag) ? { ...readMasterPlaylist(file.lines, this.#url), file } : null;
    const renditions = master
      ? await pLimit(this.#concurrency).map(this.#addresses(master), (url) => this.#fetchRendition(url))
      : [await this.#readRendition(this.#url, this.#asMediaPlaylist(file))];
    const captions = await pLimit(this.#concurrency).map(
      master ? this.#captionsAddresses(master) : [],
      (url) => this.#fetchCaptions(url),
    );
    const iFrameUrls = master?.iFramePlaylists.map(({ url }) => url).filter((url) => url !== null) ?? [];
    const iFrames = await pLimit(this.#concurrency).map(iFrameUrls, (url) => this.#fetchRendition(url));
    const sessionData = await this.#fetchSessionData(master?.sessionData ?? []);
    const presentation = {
      url: this.#url,
      master,
      renditions,
      iFrames,
      captions,
      sessionData,
      keys: this.#loadedKeys,
      initializations: this.#loadedInitializations,
      responses: this.#responses,
      notes: this.#notes,
    };
    if (this.#options.playbackRequests) {
      this.#responses.push(...(await sendPlaybackRequests(this.#client, presentation)));
    }
    return presentation;
  }

  get #concurrency(): number {
    return this.#options.concurrency ?? 4;
  }

  #addresses(master: ReturnType<typeof readMasterPlaylist>): string[] {
    const texts = master.alternatives.filter(({ type }) => type !== 'AUDIO' && type !== 'VIDEO');
    const closed = texts.filter(({ type }) => type !== 'SUBTITLES').length;
    if (closed > 0) this.#notes.push(`${closed} closed captions are not read`);
    const alternatives = master.alternatives.filter((alternative) => !texts.includes(alternative));
    const urls = [...master.variants, ...alternatives].map(({ url }) => url);
    return [...new Set(urls)].filter((url) => url !== null);
  }

  #captionsAddresses({ alternatives }: ReturnType<typeof readMasterPlaylist>): string[] {
    const urls = alternatives.filter(({ type }) => type === 'SUBTITLES').map(({ url }) => url);
    return [...new Set(urls)].filter((url) => url !== null);
  }

  async #fetchCaptions(url: string): Promise<Captions> {
    const file = await this.#playlistFile('media playlist', url);
    const playlist = readMediaPlaylist(file?.lines ?? [], url);
    const name = this.#place(url);
    const unread = file === null ? null : whyCaptionsUnread(playlist);
    if (unread !== null) {
      this.#notes.push(`the captions of ${name} are not read: ${unread}`);
      const segments = playlist.segments.map((each) => ({ ...each, text: null }));
      return { name, url, file, playlist, segments, unread };
    }
    const segments: CaptionsSegment[] = [];
    for (const listed of playlist.segments) {
      const { response, body } = await fetchSmall(this.#client, 'captions', listed.url, CAPTIONS_LIMIT);
      this.#responses.push(response);
      segments.push({ ...listed, text: body && new TextDecoder().decode(body) });
    }
    return { name, url, file, playlist, segments, unread: null };
  }

  /** Formats other than JSON are not read (draft-pantos-hls-rfc8216bis §4.4.6.4). */
  async #fetchSessionData(listed: readonly SessionData[]): Promise<SessionDataFile[]> {
    const files: SessionDataFile[] = [];
    for (const { url, dataId, attributes } of listed) {
      if (url === null || (attributes.get('FORMAT')?.text ?? 'JSON') !== 'JSON') continue;
      const { response, body } = await fetchSmall(this.#client, 'session data', url, SESSION_DATA_LIMIT);
      this.#responses.push(response);
      const text = body && new TextDecoder().decode(body);
      files.push({ name: this.#place(url), url, dataId, text });
    }
    return files;
  }

  async #fetchRendition(url: string): Promise<Rendition> {
    return this.#readRendition(url, await this.#playlistFile('media playlist', url));
  }

  async #readRendition(url: string, file: PlaylistFile | null): Promise<Rendition> {
    const playlist = readMediaPlaylist(file?.lines ?? [], url);
    const rendition = { name: this.#place(url), url, file, playlist };
    const unread = file === null ? 'its playlist could not be fetched' : whyUnread(playlist);
    if (unread !== null) {
      this.#notes.push(`the segments of ${rendition.name} are not read: ${unread}`);
      return { ...rendition, segments: playlist.segments.map(notLoaded), unread };
    }
    const segments: LoadedSegment[] = [];
    // One at a time, as in a player: a rendition may have thousands.
    for (const listed of playlist.segments) {
      const initialization = listed.map && (await this.#initializationOf(listed.map));
      if (listed.map !== null && initialization === null) {
        segments.push(notLoaded(listed));
        continue;
      }
      const key = await this.#keyOf(listed);
      const { segment, response } = await loadSegment(this.#client, listed, { key, initialization });
      segments.push(segment);
      this.#responses.push(response);
    }
    return { ...rendition, segments, unread: null };
  }

  async #playlistFile(kind: 'master playlist' | 'media playlist', url: string): Promise<PlaylistFile | null> {
    const { response, body } = await fetchSmall(this.#client, kind, url, PLAYLIST_LIMIT);
    this.#responses.push(response);
    if (body === null) return null;
    const { text, violations } = decodePlaylist(body);
    const [firstLine = ''] = text.split(/\r?\n/, 1);
    return { url, bytes: body.length, violations, firstLine, lines: readLines(text) };
  }

  /** The first playlist turned out to be a media playlist. */
  #asMediaPlaylist(file: PlaylistFile): PlaylistFile {
    for (const response of this.#responses) response.kind = 'media playlist';
    return file;
  }

  /** Null if it cannot be used. */
  #initializationOf(map: MapTag): Promise<Initialization | null> {
    const address = `${map.key?.url ?? ''} ${map.url}`;
    const known = this.#initializations.get(address) ?? this.#fetchInitialization(map);
    this.#initializations.set(address, known);
    return known;
  }

  async #fetchInitialization(map: MapTag): Promise<Initialization | null> {
    const key = await this.#keyOf(map);
    const { initialization, loaded, response } = await loadInitialization(this.#client, map, key);
    this.#responses.push(response);
    this.#loadedInitializations.push(loaded);
    return initialization;
  }

  async #keyOf({ key }: Pick<ListedSegment, 'key'>): Promise<SegmentKey> {
    if (key === null || key.method === 'NONE') return null;
    if (key.url === null) return { violation: 'has no key' };
    const { url } = key;
    const known = this.#keys.get(url) ?? this.#fetchKey(url);
    this.#keys.set(url, known);
    const bytes = await known;
    return bytes === null ? { violation: `has no usable key at ${this.#place(url)}` } : { bytes };
  }

  /** Null if it cannot be used to decrypt. */
  async #fetchKey(url: string): Promise<Buffer | null> {
    const { response, body } = await fetchSmall(this.#client, 'key', url, KEY_LIMIT);
    this.#responses.push(response);
    if (body === null) return null;
    const sha256 = createHash('sha256').update(body).digest('hex');
    this.#loadedKeys.push({ url, bytes: body.length, sha256 });
    return body.length === KEY_BYTES ? body : null;
  }

  #place(url: string): string {
    return shortAddress(url, this.#url);
  }

  #whyNoPlaylist(): string {
    const [response] = this.#responses;
    const reason = response?.error ?? `responded with ${response?.status}`;
    return `${this.#place(this.#url)} could not be fetched: ${reason}`;
  }
}

/** Why captions cannot be read; null if they can. They are never decrypted. */
function whyCaptionsUnread(playlist: MediaPlaylist): string | null {
  const isEncrypted = playlist.segments.some(({ key }) => key !== null && key.method !== 'NONE');
  return isEncrypted ? 'they are encrypted' : whyUnread(playlist);
}

/** Why the segments of a playlist cannot be read; null if they can. */
function whyUnread({ ended, segments }: MediaPlaylist): string | null {
  const encryptedOtherwise = segments.find(
    ({ key }) =>
      key !== null && key.method !== 'NONE' && (key.method !== 'AES-128' || key.keyFormat !== null),
  );
  if (segments.length === 0) return 'it lists none';
  if (!ended) return 'it is live or has no EXT-X-ENDLIST';
  if (segments.some(({ byteRange, map }) => byteRange || map?.byteRange)) return 'they are byte ranges';
  if (encryptedOtherwise) {
    const { method, keyFormat } = encryptedOtherwise.key ?? {};
    return `they are encrypted with ${method}${keyFormat ? ` (${keyFormat})` : ''}`;
  }
  return null;
}
