// biome-ignore-all lint/performance/noBarrelFile: an entry point of a published package re-exports the public names.
export { upload } from './node/upload.ts';
export type { UploadSource } from './node/upload-source.ts';
export { uploadVideo } from './node/upload-video.ts';
export type { UploadOptions, UploadPermit, UploadProgress } from './upload.ts';
