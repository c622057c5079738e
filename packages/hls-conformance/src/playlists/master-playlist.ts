import type { VideoSyntax } from '../media/video-syntax.ts';
import { type AttributeValue, readAttributeList } from './attribute-list.ts';
import { isTag, type PlaylistLine, type Tag } from './playlist-text.ts';

export type Attributes = ReadonlyMap<string, AttributeValue>;

/** A combination of renditions that can be played (RFC 8216 §4.3.4.2). */
export type Variant = { line: number; attributes: Attributes; uri: string; url: string };

/** Alternative audio, video or text of some variants (RFC 8216 §4.3.4.1). */
export type Alternative = {
  line: number;
  attributes: Attributes;
  type: string;
  groupId: string;
  /** Null if it is part of the variants' own segments. */
  url: string | null;
};

/** I-frames of a variant (RFC 8216 §4.3.4.3). */
export type IFramePlaylist = { line: number; attributes: Attributes; url: string | null };

/** Data of the whole presentation (RFC 8216 §4.3.4.4). */
export type SessionData = {
  line: number;
  attributes: Attributes;
  dataId: string;
  /** Null if the playlist has the value. */
  url: string | null;
};

export type MasterPlaylist = {
  variants: Variant[];
  alternatives: Alternative[];
  independentSegments: boolean;
  iFramePlaylists: IFramePlaylist[];
  sessionData: SessionData[];
};

const MASTER_TAGS = /^EXT-X-(STREAM-INF|MEDIA|I-FRAME-STREAM-INF|SESSION-DATA|SESSION-KEY|CONTENT-STEERING)$/;

export function isMasterTag({ name }: Tag): boolean {
  return MASTER_TAGS.test(name);
}

/** Reads a master playlist. Skips invalid lines: the rules check them. */
export function readMasterPlaylist(lines: readonly PlaylistLine[], url: string): MasterPlaylist {
  const tags = lines.filter(isTag);
  const named = (name: string) => tags.filter((tag) => tag.name === name);
  return {
    variants: readVariants(lines, url),
    alternatives: named('EXT-X-MEDIA').map((tag) => alternativeOf(tag, url)),
    independentSegments: named('EXT-X-INDEPENDENT-SEGMENTS').length > 0,
    iFramePlaylists: named('EXT-X-I-FRAME-STREAM-INF').map((tag) => iFramesOf(tag, url)),
    sessionData: named('EXT-X-SESSION-DATA').map((tag) => sessionDataOf(tag, url)),
  };
}

/** The audio alternatives of a variant; empty if it names no group. */
export function audioOf(variant: Variant, { alternatives }: MasterPlaylist): Alternative[] {
  const group = variant.attributes.get('AUDIO')?.text;
  return alternatives.filter(({ type, groupId }) => type === 'AUDIO' && groupId === group);
}

/** The codecs of video by the names of their sample entries (RFC 6381). */
const VIDEO_CODECS: Readonly<Record<string, VideoSyntax['name']>> = {
  avc1: 'H.264',
  avc3: 'H.264',
  hvc1: 'HEVC',
  hev1: 'HEVC',
  av01: 'AV1',
};

/** The codec of the video that CODECS of a variant names; null without video, or if it is another one. */
export function videoCodecOf({ attributes }: Pick<Variant, 'attributes'>): VideoSyntax['name'] | null {
  const named = attributes.get('CODECS')?.text.split(',') ?? [];
  const [codec] = named.flatMap((each) => VIDEO_CODECS[each.trim().split('.')[0]?.toLowerCase() ?? ''] ?? []);
  return codec ?? null;
}

/** A URI in a playlist as an absolute URL; null if it is invalid. */
export function resolve(uri: string, base: string): string | null {
  return URL.canParse(uri, base) ? new URL(uri, base).href : null;
}

function readVariants(lines: readonly PlaylistLine[], base: string): Variant[] {
  const variants: Variant[] = [];
  let streamInf: Tag | undefined;
  for (const line of lines) {
    if (isTag(line)) {
      if (line.name === 'EXT-X-STREAM-INF') streamInf = line;
      continue;
    }
    const url = resolve(line.uri, base);
    if (streamInf && url !== null) {
      const { attributes } = readAttributeList(streamInf.value ?? '');
      variants.push({ line: streamInf.line, attributes, uri: line.uri, url });
    }
    streamInf = undefined;
  }
  return variants;
}

function alternativeOf({ line, value }: Tag, base: string): Alternative {
  const { attributes } = readAttributeList(value ?? '');
  const uri = attributes.get('URI')?.text;
  return {
    line,
    attributes,
    type: attributes.get('TYPE')?.text ?? '',
    groupId: attributes.get('GROUP-ID')?.text ?? '',
    url: uri === undefined ? null : resolve(uri, base),
  };
}

function iFramesOf({ line, value }: Tag, base: string): IFramePlaylist {
  const { attributes } = readAttributeList(value ?? '');
  return { line, attributes, url: resolve(attributes.get('URI')?.text ?? '', base) };
}

function sessionDataOf({ line, value }: Tag, base: string): SessionData {
  const { attributes } = readAttributeList(value ?? '');
  const uri = attributes.get('URI')?.text;
  const dataId = attributes.get('DATA-ID')?.text ?? '';
  return { line, attributes, dataId, url: uri === undefined ? null : resolve(uri, base) };
}
