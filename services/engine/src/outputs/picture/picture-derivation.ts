import { join } from 'node:path';
import { MAX_PICTURE_BYTES, type PictureFormat, pictureFile } from '@framelane/contracts/outputs/picture';
import type { DerivationOf } from '@framelane/contracts/outputs/tasks';
import { grantFile, SOURCE_PATH } from '../../sandbox/job-folder.ts';
import type { DerivationKind } from '../kinds.ts';
import { makeFile } from '../made-file.ts';
import { fetchTrack } from '../stored-tracks.ts';
import { pictureArguments } from './picture-arguments.ts';

/** Many times what the largest picture needs, so that a picture never occupies its place for long. */
const LIMIT_SECONDS = 60;
const MEMORY_BYTES = 2 * 1024 ** 3;

/** Viewers wait for a picture. More threads delay its first frame. */
const MAX_THREADS = 2;

export const PICTURE_TYPES: Record<PictureFormat, string> = {
  jpg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
};

/** A picture of frames of a stored rendition. */
export const PICTURE: DerivationKind<DerivationOf<'picture'>> = {
  diskNeed: (inputBytes) => inputBytes + MAX_PICTURE_BYTES,
  run: async ({ work, packaging, tracks, startTimestamp, output }, directory, context) => {
    const [track] = tracks;
    if (track === undefined) throw new Error('A picture is made of one rendition');
    const { objects, tools, settings, signal } = context;
    const path = join(directory, SOURCE_PATH);
    await fetchTrack(track, path, {
      objects,
      packaging,
      contentKey: output.contentKey,
      signal,
      onFetched: () => {},
    });
    await grantFile(path, tools.account);
    const threads = Math.min(settings.threads, MAX_THREADS);
    const bytes = await makeFile(
      {
        commandLine: pictureArguments({ work, packaging, startTimestamp, threads }),
        program: tools.ffmpeg,
        limitSeconds: LIMIT_SECONDS,
        stallSeconds: LIMIT_SECONDS,
        memoryBytes: MEMORY_BYTES,
        file: pictureFile(work.format),
        maxBytes: MAX_PICTURE_BYTES,
        contentType: PICTURE_TYPES[work.format],
        prefix: output.prefix,
      },
      directory,
      context,
    );
    return { picture: { name: work.name, bytes } };
  },
};
