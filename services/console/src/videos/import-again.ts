import type { Schemas, Video } from '@framelane/client';

/** Whether a video is an import that failed before its file was complete. A complete file is transcoded again instead. */
export function canImportAgain({ status, import: imported, retryable, sourceFile }: Video): boolean {
  return status === 'failed' && imported !== null && !retryable && !sourceFile.stored;
}

/** The import of the same file with the details of a video. Its URL has no query, and the headers of the first request are unknown. */
export function importAgain(video: Video): Schemas['ImportRequest'] {
  const { filename, title, metadata, tags, playbackPolicy, keepSource, packaging } = video;
  const { passthrough, allowedOrigins, audioOnly, import: imported } = video;
  return {
    url: imported?.url ?? '',
    filename,
    title,
    metadata,
    tags,
    playbackPolicy,
    keepSource,
    packaging,
    ...(passthrough !== null && { passthrough }),
    ...(allowedOrigins !== null && { allowedOrigins }),
    ...(audioOnly === true && { audioOnly }),
  };
}
