import type { SegmentContent } from './media/segment-content.ts';
import type { Alternative, MasterPlaylist, Variant } from './playlists/master-playlist.ts';
import type { ListedSegment, MediaPlaylist } from './playlists/media-playlist.ts';
import type { PlaylistLine } from './playlists/playlist-text.ts';

export type ResourceKind =
  | 'master playlist'
  | 'media playlist'
  | 'segment'
  | 'initialization section'
  | 'captions'
  | 'session data'
  | 'key';

/** The kind of request: for the resource itself (`whole`), or one that only Framelane's rules need. */
export type RequestKind =
  | 'whole'
  | 'head'
  | 'conditional'
  | 'first bytes'
  | 'last bytes'
  | 'bytes beyond the end'
  | 'preflight'
  | 'missing resource';

/** A server's response. */
export type LoadedResponse = {
  kind: ResourceKind;
  request: RequestKind;
  url: string;
  /** Null without a complete response. */
  status: number | null;
  error: string | null;
  /** URLs of the redirects. */
  redirects: string[];
  /** By names in lower case. */
  headers: Readonly<Record<string, string>>;
  /** Size of the body as sent. */
  bytes: number;
  /** For a range request, whether the bytes are the requested ones; otherwise null. */
  matches: boolean | null;
};

/** A playlist as text. */
export type PlaylistFile = {
  url: string;
  bytes: number;
  /** Errors in its encoding. */
  violations: string[];
  /** Its first line, even if it is invalid. */
  firstLine: string;
  lines: PlaylistLine[];
};

/** The result of decrypting a segment. */
export type Decryption =
  | { state: 'not encrypted' }
  | { state: 'decrypted' }
  /** `violation` says why it could not be decrypted. */
  | { state: 'failed'; violation: string };

/** A fetched segment. */
export type LoadedSegment = ListedSegment & {
  /** Null if it was not fetched or the request failed. */
  bytes: number | null;
  /** SHA-256 of the body as sent, in hex. */
  sha256: string | null;
  decryption: Decryption;
  /** Null if it was not read. */
  content: SegmentContent | null;
};

/** A media playlist and its segments. */
export type Rendition = {
  /** Its URL relative to the presentation, for people. */
  name: string;
  url: string;
  /** Null if it could not be fetched. */
  file: PlaylistFile | null;
  playlist: MediaPlaylist;
  segments: LoadedSegment[];
  /** Why its segments were not read, e.g. fragmented MP4; null if they were read. */
  unread: string | null;
};

/** The media playlist of captions, and its segments. */
export type Captions = {
  /** Its URL relative to the presentation, for people. */
  name: string;
  url: string;
  /** Null if it could not be fetched. */
  file: PlaylistFile | null;
  playlist: MediaPlaylist;
  segments: CaptionsSegment[];
  /** Why no segment is read; null if they are read. */
  unread: string | null;
};

/** A segment of captions. The text is null if it was not fetched or cannot be read. */
export type CaptionsSegment = ListedSegment & { text: string | null };

/** The resource of a URI of EXT-X-SESSION-DATA. The text is null if it was not fetched. */
export type SessionDataFile = { name: string; url: string; dataId: string; text: string | null };

/** An initialization section (EXT-X-MAP), and how it breaks the rules of HLS. */
export type LoadedInitialization = { url: string; violations: readonly string[] };

/** A content key, without its bytes. */
export type LoadedKey = { url: string; bytes: number; sha256: string };

/** The measurements of everything that a player can fetch of one video. */
export type Presentation = {
  url: string;
  /** Null if the URL is that of a media playlist. */
  master: (MasterPlaylist & { file: PlaylistFile }) | null;
  /** Every media playlist once: those of the variants in order, then those of the alternatives. */
  renditions: Rendition[];
  /** The I-frame playlists. Their segments are I-frames. */
  iFrames: Rendition[];
  /** Subtitles and captions in WebVTT, in the order of the master playlist. */
  captions: Captions[];
  /** In the order of the master playlist, without values in it. */
  sessionData: SessionDataFile[];
  keys: LoadedKey[];
  initializations: LoadedInitialization[];
  responses: LoadedResponse[];
  /** Parts of the presentation that are not checked. */
  notes: string[];
};

export function isVideo({ segments }: Rendition): boolean {
  return segments.some(({ content }) => content?.video);
}

export function isAudioOnly(rendition: Rendition): boolean {
  return !isVideo(rendition) && rendition.segments.some(({ content }) => content?.audio);
}

/** Whether a presentation has audio and no video. */
export function isSoundAlone({ renditions }: Pick<Presentation, 'renditions'>): boolean {
  return renditions.length > 0 && renditions.every(isAudioOnly);
}

/** The rendition of a variant or an alternative; undefined if it is part of another. */
export function renditionOf(
  { url }: Pick<Variant | Alternative, 'url'>,
  { renditions }: Presentation,
): Rendition | undefined {
  return renditions.find((rendition) => rendition.url === url);
}

/** The text of every playlist that could be fetched. */
export function playlistFiles({ master, renditions, iFrames, captions }: Presentation): PlaylistFile[] {
  return [master, ...renditions, ...iFrames, ...captions].flatMap((each) => each?.file ?? []);
}

/** A URL for people: relative to the presentation if possible, and without its query, which may be secret. */
export function shortAddress(url: string, presentationUrl: string): string {
  const { origin, pathname } = new URL(url);
  const base = new URL('.', presentationUrl);
  const folder = `${base.origin}${base.pathname}`;
  const address = `${origin}${pathname}`;
  return address.startsWith(folder) && address !== folder ? address.slice(folder.length) : address;
}

/** Every URL of the presentation: playlists, keys and segments. */
export function addressesOf({ url, renditions, iFrames, captions, keys }: Presentation): string[] {
  const listed = [...renditions, ...iFrames, ...captions].flatMap((rendition) => [
    rendition.url,
    ...rendition.segments.map((each) => each.url),
  ]);
  return [...new Set([url, ...listed, ...keys.map((key) => key.url)])];
}
