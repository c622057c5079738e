/** The rungs of the ladder, lowest first: quality levels, named after the short side of the frame. The public API calls them variants. */
export const RUNGS = ['360p', '480p', '720p', '1080p'] as const;
export type RungName = (typeof RUNGS)[number];

/**
 * The codecs of video renditions. A video has each of its rungs in each of them, in this order. Only its last rendition can be a stream copy
 * of the source.
 */
export const VIDEO_CODECS = ['h264'] as const;
export type VideoCodec = (typeof VIDEO_CODECS)[number];

/** The codec whose renditions have the names of their rungs. Every video has it. */
const PLAIN_CODEC = 'h264';

/** The name of a video rendition: one rung in one codec. */
export type VideoRendition = RungName | `${RungName}-${Exclude<VideoCodec, typeof PLAIN_CODEC>}`;

/** The name of a rung in a codec, such as `1080p`, or `1080p-av1` in a codec other than H.264. */
export function videoRendition(rung: RungName, codec: VideoCodec): VideoRendition {
  return codec === PLAIN_CODEC ? rung : `${rung}-${codec}`;
}

const BY_NAME = new Map(
  RUNGS.flatMap((rung) =>
    VIDEO_CODECS.map((codec) => [videoRendition(rung, codec), { rung, codec }] as const),
  ),
);

/** All video renditions, lowest rung first. */
export const VIDEO_RENDITIONS: readonly VideoRendition[] = [...BY_NAME.keys()];

/** The rung and the codec of a video rendition. */
export function partsOf(name: VideoRendition): { rung: RungName; codec: VideoCodec } {
  const parts = BY_NAME.get(name);
  if (parts === undefined) throw new TypeError(`Not a video rendition: ${name}`);
  return parts;
}

/** The rungs of which there is a rendition, lowest first. */
export function rungsOf(names: readonly RenditionName[]): RungName[] {
  const found = new Set(names.map((name) => BY_NAME.get(name as VideoRendition)?.rung));
  return RUNGS.filter((rung) => found.has(rung));
}

/** The audio renditions, in mono or stereo: one for each audio track of a video. The first one is the default. */
export const AUDIO_RENDITIONS = [
  'audio',
  'audio2',
  'audio3',
  'audio4',
  'audio5',
  'audio6',
  'audio7',
  'audio8',
] as const;
export type AudioRendition = (typeof AUDIO_RENDITIONS)[number];

/** The 5.1 renditions of the same tracks. The nth one belongs to the nth audio rendition. */
export const SURROUND_RENDITIONS = [
  'surround',
  'surround2',
  'surround3',
  'surround4',
  'surround5',
  'surround6',
  'surround7',
  'surround8',
] as const;
export type SurroundRendition = (typeof SURROUND_RENDITIONS)[number];

/** I-frames of the lowest video rendition, for scrubbing. Each one is a segment. */
export const I_FRAME_RENDITION = 'iframes';

/** The renditions of whole tracks: all but that of I-frames. */
export const TRACK_RENDITIONS = [...VIDEO_RENDITIONS, ...AUDIO_RENDITIONS, ...SURROUND_RENDITIONS] as const;
export type TrackRendition = (typeof TRACK_RENDITIONS)[number];

/** All rendition names, as in object keys, URLs and manifests. */
export const RENDITIONS = [...TRACK_RENDITIONS, I_FRAME_RENDITION] as const;
export type RenditionName = (typeof RENDITIONS)[number];

export function isAudioRendition(name: RenditionName): name is AudioRendition | SurroundRendition {
  return name !== I_FRAME_RENDITION && !BY_NAME.has(name as VideoRendition);
}

/** The name of audio without a title and a language. */
export const UNNAMED_AUDIO = 'Audio';

/** The purpose of an audio track, unless it is the ordinary audio of a language. */
export const AUDIO_ROLES = ['audio_description', 'clear_speech', 'commentary'] as const;
export type AudioRole = (typeof AUDIO_ROLES)[number];
