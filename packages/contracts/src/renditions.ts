/** The video renditions of the ladder, lowest first. The public API calls them variants. */
export const VIDEO_RENDITIONS = ['360p', '480p', '720p', '1080p'] as const;
export type VideoRendition = (typeof VIDEO_RENDITIONS)[number];

/** The audio renditions, in mono or stereo: one for each audio track of a video. The first one is the default. */
export const AUDIO_RENDITIONS = [
  ...(['audio', 'audio2', 'audio3', 'audio4'] as const),
  ...(['audio5', 'audio6', 'audio7', 'audio8'] as const),
] as const;
export type AudioRendition = (typeof AUDIO_RENDITIONS)[number];

/** The 5.1 renditions of the same tracks. The nth one belongs to the nth audio rendition. */
export const SURROUND_RENDITIONS = [
  ...(['surround', 'surround2', 'surround3', 'surround4'] as const),
  ...(['surround5', 'surround6', 'surround7', 'surround8'] as const),
] as const;
export type SurroundRendition = (typeof SURROUND_RENDITIONS)[number];

/** I-frames of the lowest video rendition, for scrubbing. Each one is a segment. */
export const I_FRAME_RENDITION = 'iframes';

/** All rendition names, as in object keys, URLs and manifests. */
export const RENDITIONS = [
  ...VIDEO_RENDITIONS,
  ...AUDIO_RENDITIONS,
  ...SURROUND_RENDITIONS,
  I_FRAME_RENDITION,
] as const;
export type RenditionName = (typeof RENDITIONS)[number];

export function isAudioRendition(name: RenditionName): name is AudioRendition | SurroundRendition {
  return name !== I_FRAME_RENDITION && !(VIDEO_RENDITIONS as readonly string[]).includes(name);
}

/** The name of audio without a title and a language. */
export const UNNAMED_AUDIO = 'Audio';

/** The purpose of an audio track, unless it is the ordinary audio of a language. */
export const AUDIO_ROLES = ['audio_description', 'clear_speech', 'commentary'] as const;
export type AudioRole = (typeof AUDIO_ROLES)[number];
