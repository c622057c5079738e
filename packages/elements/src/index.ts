// biome-ignore-all lint/performance/noBarrelFile: an entry point of a published package re-exports the public names.
export * from './player.ts';
export * from './uploader.ts';
