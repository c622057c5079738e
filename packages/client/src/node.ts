// biome-ignore-all lint/performance/noBarrelFile: an entry point of a published package re-exports the public names.
export type { KeptTicket } from './kept-ticket.ts';
export { upload } from './node/upload.ts';
export type { UploadSource } from './node/upload-source.ts';
export { type UploadVideoOptions, uploadVideo } from './node/upload-video.ts';
export type { UploadOptions, UploadPermit, UploadProgress } from './upload.ts';
