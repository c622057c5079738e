import { createDecipheriv } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse, setOptions, types } from 'hls-parser';
import { fetchBytes } from './fetch-whole.ts';

setOptions({ strictMode: true });

/** One segment, fetched and decrypted. */
export type Segment = {
  url: string;
  /** EXTINF, in seconds. */
  duration: number;
  /** Size as delivered. */
  bytes: number;
  /** As delivered, on disk. */
  delivered: string;
  /** In clear, on disk. */
  clear: string;
};

/** One media playlist and all it lists. */
export type Rendition = {
  url: string;
  text: string;
  playlist: types.MediaPlaylist;
  segments: Segment[];
};

/** A rung of the ladder as the master playlist offers it. */
export type Rung = Rendition & { variant: types.Variant };

/** Everything a player gets to see of one video. */
export type Presentation = {
  url: string;
  text: string;
  playlist: types.MasterPlaylist;
  rungs: Rung[];
  /** The audio all rungs share; null for a silent video. */
  audio: Rendition | null;
  keyUrl: string;
  key: Buffer;
};

/**
 * Fetches a whole presentation with nothing but the URL of its master playlist, as players do, and decrypts its
 * segments (AES-128-CBC, the media sequence number as IV: RFC 8216 §5.2) into `directory`. Throws when anything
 * is not served, not well-formed, or does not decrypt.
 */
export async function readPresentation(url: string, directory: string): Promise<Presentation> {
  const text = await fetchText(url);
  const playlist = parse(text);
  if (!(playlist instanceof types.MasterPlaylist)) throw new Error(`${url} is no master playlist`);
  const keys = new KeyRing();
  const rungs: Rung[] = [];
  for (const variant of playlist.variants) {
    rungs.push({ variant, ...(await readRendition(variant.uri, url, directory, keys)) });
  }
  const audioUri = playlist.variants[0]?.audio[0]?.uri;
  const audio = audioUri === undefined ? null : await readRendition(audioUri, url, directory, keys);
  return { url, text, playlist, rungs, audio, ...keys.only() };
}

async function fetchText(url: string): Promise<string> {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await fetchBytes(url));
}

async function readRendition(
  uri: string,
  masterUrl: string,
  directory: string,
  keys: KeyRing,
): Promise<Rendition> {
  const url = new URL(uri, masterUrl).href;
  const text = await fetchText(url);
  const playlist = parse(text);
  if (!(playlist instanceof types.MediaPlaylist)) throw new Error(`${url} is no media playlist`);
  const folder = join(directory, encodeURIComponent(uri));
  await mkdir(folder);
  const segments: Segment[] = [];
  for (const listed of playlist.segments) {
    const segmentUrl = new URL(listed.uri, url).href;
    const bytes = await fetchBytes(segmentUrl);
    const place = join(folder, String(listed.mediaSequenceNumber));
    const segment = { delivered: `${place}.encrypted`, clear: `${place}.ts` };
    await writeFile(segment.delivered, bytes);
    await writeFile(
      segment.clear,
      decrypt(bytes, await keys.keyFor(listed, url), listed.mediaSequenceNumber),
    );
    segments.push({ url: segmentUrl, duration: listed.duration, bytes: bytes.length, ...segment });
  }
  return { url, text, playlist, segments };
}

/** Throws when the padding shows that key or IV are wrong. */
function decrypt(ciphertext: Buffer, key: Buffer, sequence: number): Buffer {
  const vector = Buffer.alloc(16);
  vector.writeUInt32BE(sequence, 12);
  const decipher = createDecipheriv('aes-128-cbc', key, vector);
  return Buffer.concat([decipher.update(ciphertext), decipher.final()]);
}

/** The keys of a presentation, each fetched once. */
class KeyRing {
  readonly #keys = new Map<string, Buffer>();

  async keyFor({ key: tag, uri }: types.Segment, playlistUrl: string): Promise<Buffer> {
    if (tag?.method !== 'AES-128' || tag.uri === undefined || tag.iv !== undefined) {
      throw new Error(`${uri} is not encrypted with AES-128 and its sequence number: ${JSON.stringify(tag)}`);
    }
    const url = new URL(tag.uri, playlistUrl).href;
    const key = this.#keys.get(url) ?? (await fetchBytes(url));
    this.#keys.set(url, key);
    return key;
  }

  /** The one key of all segments. Throws when there are more. */
  only(): { keyUrl: string; key: Buffer } {
    const [first, ...others] = this.#keys;
    if (first === undefined || others.length > 0) throw new Error(`There are ${this.#keys.size} keys`);
    const [keyUrl, key] = first;
    return { keyUrl, key };
  }
}
