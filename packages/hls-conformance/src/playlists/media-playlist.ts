import { readAttributeList } from './attribute-list.ts';
import { resolve } from './master-playlist.ts';
import { isTag, type PlaylistLine, type Tag } from './playlist-text.ts';

/** How the segments after an EXT-X-KEY are encrypted (RFC 8216 §4.3.2.4). */
export type KeyTag = {
  line: number;
  method: string;
  /** Null for METHOD=NONE. */
  url: string | null;
  /** 16 bytes; null if the media sequence number is the vector. */
  vector: Buffer | null;
  /** Null if it is `identity`. */
  keyFormat: string | null;
};

/** The initialization section of the segments after an EXT-X-MAP (RFC 8216 §4.3.2.5). */
export type MapTag = {
  line: number;
  url: string;
  /** How it is encrypted: by the EXT-X-KEY before it. */
  key: KeyTag | null;
  /** Whether it is only a part of the resource at its URL. */
  byteRange: boolean;
};

/** A segment as a playlist lists it. */
export type ListedSegment = {
  line: number;
  uri: string;
  url: string;
  /** EXTINF, in seconds; NaN if it is invalid. */
  duration: number;
  /** Media sequence number. */
  sequence: number;
  key: KeyTag | null;
  /** Null without an initialization section. */
  map: MapTag | null;
  discontinuity: boolean;
  /** Whether it is only a part of the resource at its URL. */
  byteRange: boolean;
};

export type MediaPlaylist = {
  /** Seconds; null if missing. */
  targetDuration: number | null;
  type: string | null;
  firstSequence: number;
  ended: boolean;
  independentSegments: boolean;
  iFramesOnly: boolean;
  segments: ListedSegment[];
};

const MEDIA_TAGS = new Set([
  ...[
    'EXTINF',
    'EXT-X-BYTERANGE',
    'EXT-X-DISCONTINUITY',
    'EXT-X-KEY',
    'EXT-X-MAP',
    'EXT-X-PROGRAM-DATE-TIME',
  ],
  ...['EXT-X-DATERANGE', 'EXT-X-TARGETDURATION', 'EXT-X-MEDIA-SEQUENCE', 'EXT-X-DISCONTINUITY-SEQUENCE'],
  ...[
    'EXT-X-ENDLIST',
    'EXT-X-PLAYLIST-TYPE',
    'EXT-X-I-FRAMES-ONLY',
    'EXT-X-GAP',
    'EXT-X-BITRATE',
    'EXT-X-PART',
  ],
]);

export function isMediaTag({ name }: Tag): boolean {
  return MEDIA_TAGS.has(name);
}

/** Reads a media playlist. Skips invalid lines: the rules check them. */
export function readMediaPlaylist(lines: readonly PlaylistLine[], url: string): MediaPlaylist {
  const value = (name: string) => lines.filter(isTag).find((tag) => tag.name === name)?.value ?? null;
  const has = (name: string) => lines.some((line) => isTag(line) && line.name === name);
  const targetDuration = value('EXT-X-TARGETDURATION');
  const firstSequence = wholeNumber(value('EXT-X-MEDIA-SEQUENCE')) ?? 0;
  return {
    targetDuration: wholeNumber(targetDuration),
    type: value('EXT-X-PLAYLIST-TYPE'),
    firstSequence,
    ended: has('EXT-X-ENDLIST'),
    independentSegments: has('EXT-X-INDEPENDENT-SEGMENTS'),
    iFramesOnly: has('EXT-X-I-FRAMES-ONLY'),
    segments: readSegments(lines, url, firstSequence),
  };
}

function readSegments(lines: readonly PlaylistLine[], base: string, firstSequence: number): ListedSegment[] {
  const segments: ListedSegment[] = [];
  const until: Pick<ListedSegment, 'key' | 'map'> = { key: null, map: null };
  let next = noTags();
  let sequence = firstSequence;
  for (const line of lines) {
    if (isTag(line)) {
      applyTag(line, base, { next, until });
      continue;
    }
    const url = resolve(line.uri, base);
    if (url !== null) segments.push({ line: line.line, uri: line.uri, url, sequence, ...until, ...next });
    sequence += 1;
    next = noTags();
  }
  return segments;
}

/** Some tags apply to the next segment, others to all segments until the same tag comes again (RFC 8216 §4.3.2). */
function applyTag(
  tag: Tag,
  base: string,
  { next, until }: { next: ReturnType<typeof noTags>; until: Pick<ListedSegment, 'key' | 'map'> },
): void {
  if (tag.name === 'EXTINF') next.duration = Number.parseFloat(tag.value ?? '');
  else if (tag.name === 'EXT-X-DISCONTINUITY') next.discontinuity = true;
  else if (tag.name === 'EXT-X-BYTERANGE') next.byteRange = true;
  else if (tag.name === 'EXT-X-KEY') until.key = readKey(tag, base);
  else if (tag.name === 'EXT-X-MAP') until.map = readMap(tag, base, until.key);
}

function noTags() {
  return { duration: Number.NaN, discontinuity: false, byteRange: false };
}

function readKey({ line, value }: Tag, base: string): KeyTag {
  const { attributes } = readAttributeList(value ?? '');
  const uri = attributes.get('URI')?.text;
  const vector = attributes.get('IV')?.text;
  const keyFormat = attributes.get('KEYFORMAT')?.text ?? 'identity';
  return {
    line,
    method: attributes.get('METHOD')?.text ?? '',
    url: uri === undefined ? null : resolve(uri, base),
    vector: vector === undefined ? null : readVector(vector),
    keyFormat: keyFormat === 'identity' ? null : keyFormat,
  };
}

/** Null without a valid URL. */
function readMap({ line, value }: Tag, base: string, key: KeyTag | null): MapTag | null {
  const { attributes } = readAttributeList(value ?? '');
  const url = resolve(attributes.get('URI')?.text ?? '', base);
  return url === null ? null : { line, url, key, byteRange: attributes.has('BYTERANGE') };
}

/** A hexadecimal number of at most 128 bits. Anything else counts as zero. */
function readVector(text: string): Buffer {
  const [, digits = ''] = /^(?:0[xX])?([0-9a-fA-F]{1,32})$/.exec(text) ?? [];
  return Buffer.from(digits.padStart(32, '0'), 'hex');
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
