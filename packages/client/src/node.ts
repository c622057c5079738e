// biome-ignore-all lint/performance/noBarrelFile: what a published package exports is one module.
export { upload } from './node/upload.ts';
export type { UploadSource } from './node/upload-source.ts';
export { uploadVideo } from './node/upload-video.ts';
export type { UploadOptions, UploadPermit, UploadProgress } from './upload.ts';
