import type { VideoStatus } from '../db/schema.ts';

/** The moves a video can make, by where they lead. Everything else changes no row. DELETE is possible in any status. */
export const MAY_BECOME: Readonly<Record<Exclude<VideoStatus, 'uploading'>, readonly VideoStatus[]>> = {
  processing: ['uploading'],
  ready: ['processing'],
  failed: ['uploading', 'processing'],
};
