import type { VideoStatus } from '../db/schema.ts';

type Move = { from: readonly VideoStatus[]; to: VideoStatus };

/**
 * The moves a video can make. Everything else changes no row; only `retry` leads out of `failed`, so a late report cannot.
 * DELETE is possible in any status.
 */
export const MOVES = {
  beginProcessing: { from: ['uploading'], to: 'processing' },
  complete: { from: ['processing'], to: 'ready' },
  fail: { from: ['uploading', 'processing'], to: 'failed' },
  retry: { from: ['failed'], to: 'processing' },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof MOVES;
