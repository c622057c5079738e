import type { Schemas, Video } from '@framelane/client';

/** Whether a video is an import that failed before its file was complete. A complete file is transcoded again instead. */
export function canImportAgain({ status, import: imported, retryable, sourceFile }: Video): boolean {
  return status === 'failed' && imported !== null && !retryable && !sourceFile.stored;
}

/**
 * The import of the same file with all that the first request asked for, except what is not stored: the query of the URL and the request
 * headers.
 */
export function importAgain(video: Video): Schemas['ImportRequest'] {
  const { filename, title, metadata, tags, playbackPolicy, keepSource, packaging, hdr } = video;
  const { passthrough, allowedOrigins, audioOnly, watermark, trim, codecs, downloads, autoCaptions } = video;
  const languages = autoCaptions.flatMap(({ requestedLanguage }) => requestedLanguage ?? []);
  return {
    url: video.import?.url ?? '',
    filename,
    title,
    metadata,
    tags,
    playbackPolicy,
    keepSource,
    packaging,
    hdr,
    ...(passthrough !== null && { passthrough }),
    ...(allowedOrigins !== null && { allowedOrigins }),
    ...(audioOnly === true && { audioOnly }),
    ...(watermark !== null && { watermark }),
    ...(trim !== null && { trim }),
    ...(codecs.length > 0 && { codecs: codecs.map(({ codec }) => codec) }),
    ...(downloads.length > 0 && { downloads: downloads.map(({ file }) => file) }),
    ...(autoCaptions.length > 0 && { autoCaptions: languages.length > 0 ? languages : (true as const) }),
  };
}
