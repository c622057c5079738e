/** The rungs of the ladder, lowest first: quality levels, named after the short side of the frame. The public API calls them variants. */
export const RUNGS = ['360p', '480p', '720p', '1080p'] as const;
export type RungName = (typeof RUNGS)[number];

/** The codec whose renditions have the names of their rungs. Every video has it, and is ready when it is complete. */
export const PLAIN_CODEC = 'h264';

/** The codecs in which a video has all its rungs again if that was asked for. They follow when the video is ready. */
export const ALTERNATIVE_CODECS = ['av1', 'hevc'] as const;
export type AlternativeCodec = (typeof ALTERNATIVE_CODECS)[number];

/** The codecs of video renditions. */
export const VIDEO_CODECS = [PLAIN_CODEC, ...ALTERNATIVE_CODECS] as const;
export type VideoCodec = (typeof VIDEO_CODECS)[number];

/** The name of a video rendition: one rung in one codec. */
export type VideoRendition = RungName | `${RungName}-${AlternativeCodec}`;

/** The name of a rung in a codec, such as `1080p`, or `1080p-av1` in a codec other than H.264. */
export function videoRendition(rung: RungName, codec: VideoCodec): VideoRendition {
  return codec === PLAIN_CODEC ? rung : `${rung}-${codec}`;
}

const BY_NAME = new Map(
  VIDEO_CODECS.flatMap((codec) =>
    RUNGS.map((rung) => [videoRendition(rung, codec), { rung, codec }] as const),
  ),
);

/** All video renditions, codec by codec, those of a codec from the lowest rung up. */
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

/** The video renditions in an alternative codec, lowest first. */
export function renditionsIn(codec: AlternativeCodec): VideoRendition[] {
  return RUNGS.map((rung) => videoRendition(rung, codec));
}

/** All rendition names, as in object keys, URLs and manifests. */
export const RENDITIONS = [...TRACK_RENDITIONS, I_FRAME_RENDITION] as const;
export type RenditionName = (typeof RENDITIONS)[number];

/** Whether a video is ready only with this rendition: it is of no alternative codec. */
const isAwaited = (name: RenditionName) =>
  (BY_NAME.get(name as VideoRendition)?.codec ?? PLAIN_CODEC) === PLAIN_CODEC;

/** The renditions that a video waits for. Everything that is made of stored renditions reads these. */
export const AWAITED_RENDITIONS = RENDITIONS.filter(isAwaited);

export function isAudioRendition(name: RenditionName): name is AudioRendition | SurroundRendition {
  return name !== I_FRAME_RENDITION && !BY_NAME.has(name as VideoRendition);
}

/** The name of audio without a title and a language. */
export const UNNAMED_AUDIO = 'Audio';

/** The purpose of an audio track, unless it is the ordinary audio of a language. */
export const AUDIO_ROLES = ['audio_description', 'clear_speech', 'commentary'] as const;
export type AudioRole = (typeof AUDIO_ROLES)[number];
