import { openContentKey } from '@framelane/contracts/content-key';
import type { Manifest, RenditionManifest } from '@framelane/contracts/manifest';
import { pictureFile } from '@framelane/contracts/outputs/picture';
import {
  I_FRAME_RENDITION,
  isAudioRendition,
  type RenditionName,
  type RungName,
  rungsOf,
} from '@framelane/contracts/renditions';
import type { SealingKeys } from '@framelane/contracts/sealing';
import { outputPrefix, segmentKey } from '@framelane/object-store/object-keys';
import type { ObjectNotFoundError } from '@framelane/object-store/object-store';
import type { Database } from '../db/database.ts';
import type { VideoRow } from '../db/schema.ts';
import type { StoredFile } from '../stored-files/stored-file.ts';
import type { StoredFiles } from '../stored-files/stored-files.ts';
import type { ReadableObject } from '../stored-files/stored-reads.ts';
import { measureBandwidth } from './bandwidth.ts';
import { listTimedChapters } from './chapters-playback.service.ts';
import { type RenditionFacts, renderMasterPlaylist } from './master-playlist.ts';
import { renderMediaPlaylist, targetDurationOf } from './media-playlist.ts';
import {
  findCaptions,
  findChosenPoster,
  findContentKey,
  findImage,
  findInitialization,
  findPlayedAttempt,
  findRenditions,
  findSegment,
  findSegments,
  findStoryboard,
  incrementPlaybackVersion,
  insertRenditions,
  type RenditionAddress,
  type SegmentAddress,
  type StoredSegment,
} from './playback.store.ts';
import { type Admission, notPlayable } from './playback-access.service.ts';
import { PlaylistCache } from './playlist-cache.ts';
import { notYetStored } from './preview-waits.ts';
import type { PreviewsService } from './previews.service.ts';
import { renderStoryboard } from './storyboard.ts';

type Deps = {
  db: Database;
  files: StoredFiles;
  previews: PreviewsService;
  contentKeys: SealingKeys;
  /** Of a CDN from which players get segments; see `ControlPlaneConfig`. */
  cdnUrl: string | undefined;
};

/** Serves ready videos and previews: playlists from the database, segments and images from the object store, the content key. */
export class PlaybackService {
  readonly #deps: Deps;
  readonly #playlists = new PlaylistCache();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Stores the renditions of an attempt, in the transaction that makes the video ready. */
  async store(
    trx: Database,
    videoId: string,
    manifest: Manifest,
  ): Promise<{ variants: RungName[]; targetDuration: number }> {
    const { iFrames } = manifest;
    const renditions = iFrames === undefined ? manifest.renditions : [...manifest.renditions, iFrames];
    const targetDuration = targetDurationOf(renditions.map((rendition) => rendition.segments));
    await insertRenditions(
      trx,
      videoId,
      renditions.map((rendition) => ({
        ...rendition,
        bandwidth: measureBandwidth(rendition.segments, targetDuration),
      })),
    );
    return { variants: rungsOf(renditions.map(({ name }) => name)), targetDuration };
  }

  /** Adds renditions to a ready video, which new players then get, too. */
  async add(trx: Database, video: VideoRow, renditions: readonly RenditionManifest[]): Promise<void> {
    const { id, target_duration: targetDuration } = video;
    if (targetDuration === null) throw new Error(`Video ${id} is not ready`);
    const measured = renditions.map((rendition) => ({
      ...rendition,
      bandwidth: measureBandwidth(rendition.segments, targetDuration),
    }));
    await insertRenditions(trx, id, measured);
    await incrementPlaybackVersion(trx, id);
  }

  /**
   * Increments the version of the playlists of a video, and resolves with the new one. Call it in the transaction that changes what
   * they contain.
   */
  incrementVersion(trx: Database, videoId: string): Promise<number> {
    return incrementPlaybackVersion(trx, videoId);
  }

  /**
   * The master playlist, with the viewer's token in its URLs; with `audioOnly` without pictures. Throws 404 unless the video can be played, and has
   * audio if that is asked for.
   */
  async masterPlaylist(
    workspaceId: string,
    videoId: string,
    { version, token, isPreview }: Admission,
    { audioOnly }: { audioOnly: boolean },
  ): Promise<string> {
    const partOf = (renditions: RenditionFacts[]) => {
      const part = audioOnly ? renditions.filter(({ name }) => isAudioRendition(name)) : renditions;
      if (part.length === 0) throw notPlayable();
      return part;
    };
    const planned = isPreview ? await this.#deps.previews.renditions(workspaceId, videoId) : undefined;
    if (planned !== undefined) return renderMasterPlaylist(partOf(planned), token);
    const name = audioOnly ? 'audio' : 'master';
    return this.#playlists.get({ videoId, version, name: `${name}.m3u8` }, token, async (anyToken) => {
      const renditions = partOf(await findRenditions(this.#deps.db, workspaceId, videoId));
      const { db } = this.#deps;
      const chapters = await listTimedChapters(db, workspaceId, videoId);
      return renderMasterPlaylist(renditions, anyToken, await findCaptions(db, videoId), chapters.length > 0);
    });
  }

  /**
   * The media playlist of one rendition, with the viewer's token in the key's URL. Throws 404 unless the video can be played and has the
   * rendition.
   */
  async mediaPlaylist(
    workspaceId: string,
    videoId: string,
    rendition: RenditionName,
    { version, token, isPreview }: Admission,
  ): Promise<string> {
    const { cdnUrl } = this.#deps;
    const segmentsAt = cdnUrl && `${cdnUrl}/v1/hls/${workspaceId}/${videoId}/${rendition}/`;
    const planned = isPreview
      ? await this.#deps.previews.segments(workspaceId, videoId, rendition)
      : undefined;
    if (planned !== undefined) return renderMediaPlaylist(planned, { token, segmentsAt });
    return this.#playlists.get({ videoId, version, name: rendition }, token, async (anyToken) => {
      const found = await findSegments(this.#deps.db, workspaceId, videoId, rendition);
      if (found === undefined) throw notPlayable();
      const iFramesOnly = rendition === I_FRAME_RENDITION;
      return renderMediaPlaylist(found, { token: anyToken, segmentsAt, iFramesOnly });
    });
  }

  /**
   * One encrypted segment, and whether it is of a preview. Throws 404 unless the video can be played and has it, and 503 if an engine
   * has not stored it before the timeout.
   */
  async segment(address: SegmentAddress): Promise<{ file: StoredFile; isPreview: boolean }> {
    const { db, previews } = this.#deps;
    const { found, isPreview } = await readyOrPreviewed(
      () => findSegment(db, address),
      () => previews.segment(address),
    );
    return this.#segmentFile(address, found, { isPreview });
  }

  /**
   * The initialization section of a rendition, which is not encrypted, and whether it is of a preview. Throws 404 unless the video can be
   * played and the rendition has one, and 503 if an engine has not begun the rendition before the timeout.
   */
  async initialization(address: RenditionAddress): Promise<{ section: Buffer; isPreview: boolean }> {
    const { db, previews } = this.#deps;
    const { found, isPreview } = await readyOrPreviewed(
      () => findInitialization(db, address),
      () => previews.initialization(address),
    );
    return { section: found, isPreview };
  }

  #segmentFile(
    address: SegmentAddress,
    { attempt, folder, bytes }: StoredSegment,
    { isPreview }: { isPreview: boolean },
  ): { file: StoredFile; isPreview: boolean } {
    const { rendition, sequence, packaging } = address;
    const key = segmentKey({ ...address, attempt, folder }, rendition, sequence, packaging);
    // A try that has failed meanwhile removed the segment. The next try produces it again.
    const removed = { missing: async (error: ObjectNotFoundError) => notYetStored(error) };
    const object = { ...this.#object(key, bytes, address), ...(isPreview && removed) };
    // The URL of a preview can get another object: another try or plan stores the segment anew, in a folder of its own.
    const etag = `"${attempt}/${folder}${rendition}/${sequence}"`;
    return { file: this.#deps.files.open(object, etag), isPreview };
  }

  /**
   * The poster as a JPEG: the image or the frame that a client has set, or else the frame from the engine. Throws 404 unless the video has it and can be
   * played.
   */
  async poster(workspaceId: string, videoId: string): Promise<Buffer> {
    const chosen = await findChosenPoster(this.#deps.db, workspaceId, videoId);
    return chosen ?? (await this.#picked(workspaceId, videoId)) ?? this.image(workspaceId, videoId, 'poster');
  }

  /** An image from the engine, a JPEG. Throws 404 unless the video is ready and has it. */
  async image(workspaceId: string, videoId: string, kind: 'poster' | 'storyboard'): Promise<Buffer> {
    const image = await this.#image(workspaceId, videoId, kind, `${kind}.jpg`);
    if (image === undefined) throw notPlayable();
    return image;
  }

  /** The frame that a client has chosen as the poster of a ready video. */
  #picked(workspaceId: string, videoId: string): Promise<Buffer | undefined> {
    return this.#image(workspaceId, videoId, 'picked_poster', pictureFile('jpg'));
  }

  async #image(
    workspaceId: string,
    videoId: string,
    kind: 'poster' | 'picked_poster' | 'storyboard',
    file: string,
  ): Promise<Buffer | undefined> {
    const image = await findImage(this.#deps.db, workspaceId, videoId, kind);
    if (image === undefined) return undefined;
    const { attempt, folder, bytes } = image;
    const key = `${outputPrefix({ workspaceId, videoId, attempt, folder })}${file}`;
    return this.#deps.files.readWhole(this.#object(key, bytes, { workspaceId, videoId }));
  }

  /** The WebVTT index of the storyboard. Throws 404 unless the video is ready and has one. */
  async storyboard(workspaceId: string, videoId: string, token: string | undefined): Promise<string> {
    const found = await findStoryboard(this.#deps.db, workspaceId, videoId);
    if (!found?.storyboard) throw notPlayable();
    return renderStoryboard(found.storyboard, found.duration ?? 0, token);
  }

  /** The origins, apart from that of the control plane, from which players get segments. */
  async segmentOrigins(): Promise<string[]> {
    const urls = [this.#deps.cdnUrl, await this.#deps.files.urlAtStore()];
    return urls.filter((url) => url !== undefined).map((url) => new URL(url).origin);
  }

  /**
   * The number of the attempt that produced the segments, or produces them now; undefined unless the video can be
   * played.
   */
  attempt(workspaceId: string, videoId: string): Promise<number | undefined> {
    return findPlayedAttempt(this.#deps.db, workspaceId, videoId);
  }

  /** The 16 bytes that decrypt the segments. Throws 404 unless the video can be played. */
  async contentKey(workspaceId: string, videoId: string): Promise<Buffer> {
    const sealed = await findContentKey(this.#deps.db, workspaceId, videoId);
    if (sealed === undefined) throw notPlayable();
    return openContentKey(sealed, this.#deps.contentKeys);
  }

  #object(
    key: string,
    bytes: number,
    { workspaceId, videoId }: { workspaceId: string; videoId: string },
  ): ReadableObject {
    const missing = async (error: ObjectNotFoundError) => {
      const isDeleted = (await findContentKey(this.#deps.db, workspaceId, videoId)) === undefined;
      return isDeleted ? notPlayable() : error;
    };
    return { key, bytes, shared: true, missing };
  }
}

/** What a ready video has, or else its preview. Throws 404 if neither has it. */
async function readyOrPreviewed<T>(
  findReady: () => Promise<T | undefined>,
  findPreviewed: () => Promise<T | undefined>,
): Promise<{ found: T; isPreview: boolean }> {
  const ready = await findReady();
  if (ready !== undefined) return { found: ready, isPreview: false };
  const previewed = await findPreviewed();
  if (previewed !== undefined) return { found: previewed, isPreview: true };
  // The video may have become ready meanwhile.
  const last = await findReady();
  if (last === undefined) throw notPlayable();
  return { found: last, isPreview: false };
}
