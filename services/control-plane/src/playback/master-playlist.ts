import { canonicalLanguage } from '@framelane/contracts/languages';
import type { VideoRange } from '@framelane/contracts/manifest';
import {
  AUDIO_RENDITIONS,
  type AudioRole,
  I_FRAME_RENDITION,
  type RenditionName,
  RUNGS,
  SURROUND_RENDITIONS,
  VIDEO_CODECS,
  videoRendition,
} from '@framelane/contracts/renditions';
import { attributes, quoted } from './attribute-list.ts';
import { CAPTIONS_GROUP, type CaptionsFacts, captionsTags } from './captions-playlist.ts';
import { withToken } from './playback-token.ts';

/** A rendition as the master playlist describes it. */
export type RenditionFacts = {
  name: RenditionName;
  /** RFC 6381. */
  codecs: string;
  /** Pixels, and frames a second; null for audio. The frame rate is also null for I-frames. */
  width: number | null;
  height: number | null;
  frameRate: number | null;
  /** Null for audio and for standard range. */
  videoRange: VideoRange | null;
  /** Null for video, and when the source does not name them. */
  channels: number | null;
  language: string | null;
  /** Null for video. The role is also null for ordinary audio. */
  label: string | null;
  role: AudioRole | null;
  /** Peak and average, bits a second: measured, or for a preview the limit of the plan. */
  bandwidth: number;
  averageBandwidth: number;
};

type AudioFacts = RenditionFacts & { label: string };

/** An audio track in one group. Its rendition can be that of another group, if the track has none of its own in this group. */
type Alternative = { track: AudioFacts; rendition: RenditionFacts };
type AudioGroup = { id: 'audio' | 'surround'; alternatives: readonly Alternative[] };

/** Audio needs a LANGUAGE (HLS authoring specification 8.10); this is the tag for an undetermined one (RFC 5646 §4.1). */
const UNKNOWN_LANGUAGE = 'und';

/** Media characteristics of audio that is not ordinary (RFC 8216 §4.3.4.1, and Apple's AVMediaCharacteristic). */
const CHARACTERISTICS: Record<AudioRole, string> = {
  audio_description: 'public.accessibility.describes-video',
  clear_speech: 'public.accessibility.enhances-speech-intelligibility',
  commentary: 'public.auxiliary-content',
};

/**
 * The first rendition in the list is the one whose average bit rate is closest to this, in bits per second (HLS authoring
 * specification 1.32).
 */
const FIRST_RATE = 2_000_000;

/**
 * The master playlist of a video (RFC 8216 §4.3.4), with the token, if there is one, in every URL. The renditions can have
 * any order. Each video rendition is listed once for each group of audio renditions, codec by codec. Sound alone has one variant for each group.
 */
export function renderMasterPlaylist(
  renditions: readonly RenditionFacts[],
  token?: string,
  captions: readonly CaptionsFacts[] = [],
  hasChapters = false,
): string {
  const ladders = laddersOf(renditions);
  const groups = audioGroups(renditions);
  const hasRanges = renditions.some(({ videoRange }) => videoRange !== null);
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...groups.flatMap((group) => mediaTags(group, token)),
    ...(hasChapters ? [chaptersTag(token)] : []),
    ...captionsTags(captions, token),
    ...ladders.flatMap((videos) =>
      (groups.length === 0 ? [undefined] : groups).flatMap((group) =>
        variantsOf(videos, group).flatMap((variant) => [
          streamTag(variant, group, { hasCaptions: captions.length > 0, hasRanges }),
          uriOf(variant, token),
        ]),
      ),
    ),
    ...inOrder([I_FRAME_RENDITION], renditions).map((iFrames) => iFrameTag(iFrames, token)),
  ];
  return `${lines.join('\n')}\n`;
}

function inOrder(names: readonly RenditionName[], renditions: readonly RenditionFacts[]): RenditionFacts[] {
  return names.flatMap((name) => renditions.find((rendition) => rendition.name === name) ?? []);
}

/** The video renditions of each codec, H.264 first (ADR 85). Sound alone has one ladder without any. */
function laddersOf(renditions: readonly RenditionFacts[]): RenditionFacts[][] {
  const [plain = [], ...others] = VIDEO_CODECS.map((codec) =>
    inOrder(
      RUNGS.map((rung) => videoRendition(rung, codec)),
      renditions,
    ),
  );
  return [plain, ...others.filter((videos) => videos.length > 0)];
}

function isAudio(rendition: RenditionFacts): rendition is AudioFacts {
  return rendition.label !== null;
}

/** All groups have the same tracks (RFC 8216 §4.3.4.1.1), so a track without surround is in the second group in stereo. */
function audioGroups(renditions: readonly RenditionFacts[]): AudioGroup[] {
  const tracks = inOrder(AUDIO_RENDITIONS, renditions).filter(isAudio);
  if (tracks.length === 0) return [];
  const stereo = tracks.map((track) => ({ track, rendition: track }));
  const surround = tracks.map((track) => {
    const name = SURROUND_RENDITIONS[AUDIO_RENDITIONS.indexOf(track.name as never)];
    return { track, rendition: renditions.find((rendition) => rendition.name === name) ?? track };
  });
  const hasSurround = surround.some(({ track, rendition }) => rendition !== track);
  return [
    { id: 'audio', alternatives: stereo },
    ...(hasSurround ? [{ id: 'surround', alternatives: surround } as const] : []),
  ];
}

/** The variants of a group. Without video, it is the default track, with the codecs and the highest rates of the group. */
function variantsOf(videos: readonly RenditionFacts[], group: AudioGroup | undefined): RenditionFacts[] {
  if (videos.length > 0) return startRenditionFirst(videos.map((video) => withAudio(video, group)));
  const [first] = group?.alternatives ?? [];
  return first ? [withAudio({ ...first.rendition, bandwidth: 0, averageBandwidth: 0 }, group)] : [];
}

/** A video rendition with the codecs and the highest rates of the audio that can be played with it (RFC 8216 §4.3.4.2). */
function withAudio(video: RenditionFacts, group: AudioGroup | undefined): RenditionFacts {
  const audio = group?.alternatives.map(({ rendition }) => rendition) ?? [];
  return {
    ...video,
    codecs: [...new Set([video.codecs, ...audio.map(({ codecs }) => codecs)])].join(),
    bandwidth: video.bandwidth + Math.max(0, ...audio.map(({ bandwidth }) => bandwidth)),
    averageBandwidth:
      video.averageBandwidth + Math.max(0, ...audio.map(({ averageBandwidth }) => averageBandwidth)),
  };
}

/** Players start with the first rendition of the list. */
function startRenditionFirst(videos: readonly RenditionFacts[]): RenditionFacts[] {
  const distance = (video: RenditionFacts) => Math.abs(video.averageBandwidth - FIRST_RATE);
  const first = videos.toSorted((a, b) => distance(a) - distance(b)).slice(0, 1);
  return [...first, ...videos.filter((video) => !first.includes(video))];
}

function mediaTags({ id, alternatives }: AudioGroup, token: string | undefined): string[] {
  const autoselected = new Set<string>();
  return alternatives.map(({ track, rendition }, at) => {
    // The language comes from an uploaded file and can be malformed.
    const language = canonicalLanguage(track.language ?? '') ?? UNKNOWN_LANGUAGE;
    const characteristics = track.role === null ? undefined : quoted(CHARACTERISTICS[track.role]);
    // If the viewer has not chosen, players choose by language and characteristics among the AUTOSELECT tracks (RFC 8216 §4.3.4.1.1).
    const combination = `${language} ${characteristics}`;
    const isAutoselected = !autoselected.has(combination);
    autoselected.add(combination);
    return `#EXT-X-MEDIA:${attributes({
      TYPE: 'AUDIO',
      'GROUP-ID': quoted(id),
      NAME: quoted(track.label),
      LANGUAGE: quoted(language),
      DEFAULT: at === 0 ? 'YES' : 'NO',
      AUTOSELECT: isAutoselected ? 'YES' : 'NO',
      CHARACTERISTICS: characteristics,
      CHANNELS: rendition.channels === null ? undefined : quoted(String(rendition.channels)),
      URI: quoted(uriOf(rendition, token)),
    })}`;
  });
}

/** @param options.hasRanges whether variants have several dynamic ranges. Then each says its own (HLS authoring specification 9.16) */
function streamTag(
  video: RenditionFacts,
  group: AudioGroup | undefined,
  { hasCaptions, hasRanges }: { hasCaptions: boolean; hasRanges: boolean },
): string {
  const { bandwidth, averageBandwidth, codecs, width, height, frameRate, videoRange } = video;
  return `#EXT-X-STREAM-INF:${attributes({
    BANDWIDTH: String(bandwidth),
    'AVERAGE-BANDWIDTH': String(averageBandwidth),
    CODECS: quoted(codecs),
    RESOLUTION: width === null || height === null ? undefined : `${width}x${height}`,
    'FRAME-RATE': frameRate?.toFixed(3),
    'VIDEO-RANGE': hasRanges ? (videoRange ?? 'SDR') : undefined,
    AUDIO: group && quoted(group.id),
    SUBTITLES: hasCaptions ? quoted(CAPTIONS_GROUP) : undefined,
    'CLOSED-CAPTIONS': 'NONE',
  })}`;
}

/** For players that show I-frames while the viewer scrubs (RFC 8216 §4.3.4.3). */
function iFrameTag(iFrames: RenditionFacts, token: string | undefined): string {
  const { bandwidth, averageBandwidth, codecs, width, height } = iFrames;
  return `#EXT-X-I-FRAME-STREAM-INF:${attributes({
    BANDWIDTH: String(bandwidth),
    'AVERAGE-BANDWIDTH': String(averageBandwidth),
    CODECS: quoted(codecs),
    RESOLUTION: `${width}x${height}`,
    URI: quoted(uriOf(iFrames, token)),
  })}`;
}

/** For Apple's players ("Providing JavaScript Object Notation (JSON) chapters"). */
function chaptersTag(token: string | undefined): string {
  return `#EXT-X-SESSION-DATA:${attributes({
    'DATA-ID': quoted('com.apple.hls.chapters'),
    URI: quoted(withToken('chapters.json', token)),
  })}`;
}

function uriOf({ name }: RenditionFacts, token: string | undefined): string {
  return withToken(`${name}/index.m3u8`, token);
}
