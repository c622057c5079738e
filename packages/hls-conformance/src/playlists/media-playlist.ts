import { readAttributeList } from './attribute-list.ts';
import { resolve } from './master-playlist.ts';
import { isTag, type PlaylistLine, type Tag } from './playlist-text.ts';

/** How the segments after an EXT-X-KEY are encrypted (RFC 8216 §4.3.2.4). */
export type KeyTag = {
  line: number;
  method: string;
  /** Null for METHOD=NONE. */
  url: string | null;
  /** 16 bytes, or null where the media sequence number stands for it. */
  vector: Buffer | null;
  /** What other than `identity` names the key. */
  keyFormat: string | null;
};

/** A segment as a playlist lists it. */
export type ListedSegment = {
  line: number;
  uri: string;
  url: string;
  /** EXTINF, in seconds; NaN when it cannot be read. */
  duration: number;
  /** Media sequence number. */
  sequence: number;
  key: KeyTag | null;
  discontinuity: boolean;
  /** Whether it is a part of the resource at its address. */
  byteRange: boolean;
};

export type MediaPlaylist = {
  /** Seconds; null when it is not stated. */
  targetDuration: number | null;
  type: string | null;
  firstSequence: number;
  ended: boolean;
  independentSegments: boolean;
  iFramesOnly: boolean;
  /** Whether the segments are initialised by another resource, as fragmented MP4 is. */
  initialised: boolean;
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

/** Reads what a media playlist lists. What cannot be read is left out; the rules look at the lines. */
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
    initialised: has('EXT-X-MAP'),
    segments: readSegments(lines, url, firstSequence),
  };
}

function readSegments(lines: readonly PlaylistLine[], base: string, firstSequence: number): ListedSegment[] {
  const segments: ListedSegment[] = [];
  let key: KeyTag | null = null;
  let next = nothingSaid();
  for (const line of lines) {
    if (!isTag(line)) {
      const url = resolve(line.uri, base);
      const sequence = firstSequence + segments.length;
      if (url !== null) segments.push({ line: line.line, uri: line.uri, url, sequence, key, ...next });
      next = nothingSaid();
    } else if (line.name === 'EXTINF') next.duration = Number.parseFloat(line.value ?? '');
    else if (line.name === 'EXT-X-DISCONTINUITY') next.discontinuity = true;
    else if (line.name === 'EXT-X-BYTERANGE') next.byteRange = true;
    else if (line.name === 'EXT-X-KEY') key = readKey(line, base);
  }
  return segments;
}

function nothingSaid() {
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

/** A hexadecimal number of at most 128 bits; one that is longer counts as zero. */
function readVector(text: string): Buffer {
  const digits = text.replace(/^0[xX]/, '');
  return digits.length <= 32 ? Buffer.from(digits.padStart(32, '0'), 'hex') : Buffer.alloc(16);
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d+$/.test(text) ? Number(text) : null;
}
