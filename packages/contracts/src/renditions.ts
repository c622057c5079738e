/** The rung names of the ladder, lowest first. The public API calls them variants. */
export const VIDEO_RENDITIONS = ['360p', '480p', '720p', '1080p'] as const;
export type VideoRendition = (typeof VIDEO_RENDITIONS)[number];

/** The one audio rendition of a video, shared by all rungs. */
export const AUDIO_RENDITION = 'audio';

/** Every rendition name, as used in storage keys, URLs and manifests. */
export const RENDITIONS = [...VIDEO_RENDITIONS, AUDIO_RENDITION] as const;
export type RenditionName = (typeof RENDITIONS)[number];
