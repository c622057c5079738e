import type { Video } from '@framelane/client';
import type { LibraryItem, Transfer } from '../library-item.ts';
import { MARKS, storedId } from './video-fields.ts';

/** What an import does about a video of the library. */
export type Step =
  /** `replaces` is a video whose file never came. */
  | { kind: 'create'; replaces?: string }
  /** An earlier run has created it, but not completed it. `file` is how its file comes, or that it is there. */
  | { kind: 'continue'; videoId: string; file: Transfer | 'arrived' }
  | { kind: 'skip'; videoId?: string; reason: string }
  | { kind: 'fail'; videoId?: string; reason: string };

/** The part of a record that decides. */
export type KnownVideo = Pick<Video, 'id' | 'status' | 'metadata' | 'error' | 'import'>;

/** Decides about a video. `known` is the video that was made of it before. */
export function nextStep(
  { unsupported }: Pick<LibraryItem, 'unsupported'>,
  known: KnownVideo | undefined,
): Step {
  if (known === undefined)
    return unsupported === undefined ? { kind: 'create' } : { kind: 'fail', reason: unsupported };
  const { id: videoId, status, error, metadata } = known;
  if (status === 'failed') return afterFailure(videoId, error);
  if (MARKS.importing in metadata) return { kind: 'continue', videoId, file: fileOf(known) };
  return { kind: 'skip', videoId, reason: 'It has been imported before.' };
}

function fileOf({ status, import: fetched }: KnownVideo): Transfer | 'arrived' {
  if (status !== 'uploading') return 'arrived';
  return fetched === null ? 'upload' : 'url';
}

/** A failure before the file was there says nothing about the file. */
function afterFailure(videoId: string, error: KnownVideo['error']): Step {
  const code = error?.code ?? '';
  if (code.startsWith('import_') || code === 'upload_expired') return { kind: 'create', replaces: videoId };
  const reason = `${error?.message ?? 'The video has failed.'} Delete ${videoId} to import it again.`;
  return { kind: 'fail', videoId, reason };
}

/** The videos of the workspace by the ids of their originals. The newest one of an original counts, unless it has failed. */
export class KnownVideos {
  readonly #byOrigin = new Map<string, KnownVideo>();

  /** Adds a video, if it was imported. */
  add(video: KnownVideo): void {
    const { id, status, metadata, error, import: fetched } = video;
    const { [MARKS.importing]: importing, [MARKS.importedFrom]: importedFrom } = metadata;
    // There may be many videos: the rest of their metadata is not kept.
    const marks = importing === undefined ? {} : { [MARKS.importing]: importing };
    for (const origin of `${importing ?? ''} ${importedFrom ?? ''}`.split(' ').filter(Boolean)) {
      const other = this.#byOrigin.get(origin);
      if (other === undefined || other.status === 'failed')
        this.#byOrigin.set(origin, { id, status, error, import: fetched, metadata: marks });
    }
  }

  get(itemId: string): KnownVideo | undefined {
    return this.#byOrigin.get(storedId(itemId));
  }
}
