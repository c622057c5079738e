import { AUDIO_RENDITION, RENDITIONS, type RenditionName } from '@framelane/contracts/renditions';
import { attributes, quoted } from './attribute-list.ts';
import { CAPTIONS_GROUP, type CaptionsFacts, captionsTags } from './captions-playlist.ts';
import { withToken } from './playback-token.ts';

/** A rendition as the master playlist describes it. */
export type RenditionFacts = {
  name: RenditionName;
  /** RFC 6381. */
  codecs: string;
  /** Pixels, and frames a second; null for audio. */
  width: number | null;
  height: number | null;
  frameRate: number | null;
  /** Null for video, and when the source does not name them. */
  channels: number | null;
  language: string | null;
  /** Measured peak and average, bits a second. */
  bandwidth: number;
  averageBandwidth: number;
};

const AUDIO_GROUP = 'audio';

/** Audio needs a LANGUAGE (HLS authoring specification 8.10); this is the tag for an undetermined one (RFC 5646 §4.1). */
const UNKNOWN_LANGUAGE = 'und';

/** The average bit rate of the first rendition in the list, bits a second (HLS authoring specification 1.32). */
const FIRST_RATE = 2_000_000;

/**
 * The master playlist of a video (RFC 8216 §4.3.4), with the token, if there is one, in every URL. The renditions can have
 * any order.
 */
export function renderMasterPlaylist(
  renditions: readonly RenditionFacts[],
  token?: string,
  captions: readonly CaptionsFacts[] = [],
): string {
  const audio = renditions.find(({ name }) => name === AUDIO_RENDITION);
  const videos = renditions
    .filter((rendition) => rendition !== audio)
    .toSorted((a, b) => RENDITIONS.indexOf(a.name) - RENDITIONS.indexOf(b.name))
    .map((video) => (audio === undefined ? video : withAudio(video, audio)));
  const lines = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...(audio === undefined ? [] : [mediaTag(audio, token)]),
    ...captionsTags(captions, token),
    ...startRenditionFirst(videos).flatMap((video) => [
      streamTag(video, audio !== undefined, captions.length > 0),
      uriOf(video, token),
    ]),
  ];
  return `${lines.join('\n')}\n`;
}

/** A video rendition with the codec and the rates of the audio that is played with it. */
function withAudio(video: RenditionFacts, audio: RenditionFacts): RenditionFacts {
  return {
    ...video,
    codecs: `${video.codecs},${audio.codecs}`,
    bandwidth: video.bandwidth + audio.bandwidth,
    averageBandwidth: video.averageBandwidth + audio.averageBandwidth,
  };
}

/** Players start with the first rendition of the list. */
function startRenditionFirst(videos: readonly RenditionFacts[]): RenditionFacts[] {
  const distance = (video: RenditionFacts) => Math.abs(video.averageBandwidth - FIRST_RATE);
  const first = videos.toSorted((a, b) => distance(a) - distance(b)).slice(0, 1);
  return [...first, ...videos.filter((video) => !first.includes(video))];
}

function mediaTag(audio: RenditionFacts, token: string | undefined): string {
  return `#EXT-X-MEDIA:${attributes({
    TYPE: 'AUDIO',
    'GROUP-ID': quoted(AUDIO_GROUP),
    NAME: quoted('Audio'),
    LANGUAGE: quoted(canonicalLanguage(audio.language ?? UNKNOWN_LANGUAGE)),
    DEFAULT: 'YES',
    AUTOSELECT: 'YES',
    CHANNELS: audio.channels === null ? undefined : quoted(String(audio.channels)),
    URI: quoted(uriOf(audio, token)),
  })}`;
}

function streamTag(video: RenditionFacts, hasAudio: boolean, hasCaptions: boolean): string {
  const { bandwidth, averageBandwidth, codecs, width, height, frameRate } = video;
  return `#EXT-X-STREAM-INF:${attributes({
    BANDWIDTH: String(bandwidth),
    'AVERAGE-BANDWIDTH': String(averageBandwidth),
    CODECS: quoted(codecs),
    RESOLUTION: width === null || height === null ? undefined : `${width}x${height}`,
    'FRAME-RATE': frameRate?.toFixed(3),
    AUDIO: hasAudio ? quoted(AUDIO_GROUP) : undefined,
    SUBTITLES: hasCaptions ? quoted(CAPTIONS_GROUP) : undefined,
    'CLOSED-CAPTIONS': 'NONE',
  })}`;
}

function uriOf({ name }: RenditionFacts, token: string | undefined): string {
  return withToken(`${name}/index.m3u8`, token);
}

/** The canonical form of a BCP 47 tag. It comes from an uploaded file and can be malformed. */
function canonicalLanguage(tag: string): string {
  try {
    return Intl.getCanonicalLocales(tag).at(0) ?? UNKNOWN_LANGUAGE;
  } catch {
    return UNKNOWN_LANGUAGE;
  }
}
