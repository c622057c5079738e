import type { SegmentContent } from './media/segment-reader.ts';
import type { Alternative, MasterPlaylist, Variant } from './playlists/master-playlist.ts';
import type { ListedSegment, MediaPlaylist } from './playlists/media-playlist.ts';
import type { PlaylistLine } from './playlists/playlist-text.ts';

export type ResourceKind = 'master playlist' | 'media playlist' | 'segment' | 'key';

/** What was asked for: a resource itself, or something about it that only a server of Framelane promises. */
export type Question =
  | 'whole'
  | 'head'
  | 'unchanged'
  | 'first bytes'
  | 'last bytes'
  | 'bytes beyond the end'
  | 'preflight'
  | 'what does not exist';

/** What a server answered. */
export type Answer = {
  kind: ResourceKind;
  question: Question;
  url: string;
  /** Null when there was no answer, or not all of one. */
  status: number | null;
  error: string | null;
  /** Where the server sent us on the way. */
  redirects: string[];
  /** By names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Of the body, as it was sent. */
  bytes: number;
  /** Whether part of a resource was the part asked for; null for anything else. */
  matches: boolean | null;
};

/** A playlist as text. */
export type PlaylistFile = {
  url: string;
  bytes: number;
  /** What is wrong with its bytes. */
  violations: string[];
  /** Its very first line, whatever it is. */
  firstLine: string;
  lines: PlaylistLine[];
};

/** How a segment could be decrypted. */
export type Decryption =
  | { state: 'not encrypted' }
  | { state: 'decrypted' }
  /** Why it could not. */
  | { state: 'failed'; violation: string };

/** A segment as it was delivered. */
export type LoadedSegment = ListedSegment & {
  /** Null when it was not fetched, or could not be. */
  bytes: number | null;
  /** SHA-256 of what was delivered, hexadecimal. */
  sha256: string | null;
  decryption: Decryption;
  /** Null when it was not read. */
  content: SegmentContent | null;
};

/** A media playlist and all it lists. */
export type Rendition = {
  /** Its address below the presentation, for people. */
  name: string;
  url: string;
  /** Null when it could not be fetched. */
  file: PlaylistFile | null;
  playlist: MediaPlaylist;
  segments: LoadedSegment[];
  /** Why its segments were not read, e.g. because they are fragmented MP4; null when they were. */
  unread: string | null;
};

/** A content key, itself not kept. */
export type LoadedKey = { url: string; bytes: number; sha256: string };

/** Everything a player gets to see of one video, measured. */
export type Presentation = {
  url: string;
  /** Null when the address is that of a media playlist. */
  master: (MasterPlaylist & { file: PlaylistFile }) | null;
  /** Every media playlist once: of the variants in their order, then of the alternatives. */
  renditions: Rendition[];
  keys: LoadedKey[];
  answers: Answer[];
  /** What the presentation has that is not looked at. */
  notes: string[];
};

export function isVideo({ segments }: Rendition): boolean {
  return segments.some(({ content }) => content?.video);
}

export function isAudioOnly(rendition: Rendition): boolean {
  return !isVideo(rendition) && rendition.segments.some(({ content }) => content?.audio);
}

/** The rendition that a variant or an alternative offers; undefined when it is part of another. */
export function renditionOf(
  { url }: Pick<Variant | Alternative, 'url'>,
  { renditions }: Presentation,
): Rendition | undefined {
  return renditions.find((rendition) => rendition.url === url);
}

/** An address for people: below the presentation if it is there, and without its query, which may be secret. */
export function shortAddress(url: string, presentationUrl: string): string {
  const { origin, pathname } = new URL(url);
  const base = new URL('.', presentationUrl);
  const address = `${origin}${pathname}`;
  return address.startsWith(base.origin + base.pathname)
    ? address.slice((base.origin + base.pathname).length)
    : address;
}

/** Every address of the presentation: playlists, keys and segments. */
export function addressesOf({ url, renditions, keys }: Presentation): string[] {
  const listed = renditions.flatMap((rendition) => [
    rendition.url,
    ...rendition.segments.map((each) => each.url),
  ]);
  return [...new Set([url, ...listed, ...keys.map((key) => key.url)])];
}
