'use client';

import './player.ts';

// biome-ignore lint/performance/noBarrelFile: an entry point of a published package re-exports the public names.
export { FramelanePlayer, type FramelanePlayerProps } from './react/framelane-player.ts';
export { FramelaneUploader, type FramelaneUploaderProps } from './react/framelane-uploader.ts';
