/** The video renditions of the ladder, lowest first. The public API calls them variants. */
export const VIDEO_RENDITIONS = ['360p', '480p', '720p', '1080p'] as const;
export type VideoRendition = (typeof VIDEO_RENDITIONS)[number];

/** The audio rendition of a video, which all video renditions share. */
export const AUDIO_RENDITION = 'audio';

/** All rendition names, as in object keys, URLs and manifests. */
export const RENDITIONS = [...VIDEO_RENDITIONS, AUDIO_RENDITION] as const;
export type RenditionName = (typeof RENDITIONS)[number];
