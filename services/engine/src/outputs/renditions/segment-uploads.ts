import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { ALIGNMENT_TOLERANCE_SECONDS } from '@framelane/contracts/joined-manifest';
import type { StartedRendition } from '@framelane/contracts/outputs/renditions';
import {
  I_FRAME_RENDITION,
  isAudioRendition,
  type RenditionName,
  TRACK_RENDITIONS,
  type TrackRendition,
  type VideoRendition,
} from '@framelane/contracts/renditions';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { headroomBytes } from '../../disk-space.ts';
import { InvalidSegmentError, type Packager, type SegmentReader } from '../../packagers/packager.ts';
import { initializationFile, readSegmentFile, segmentFile } from '../../packagers/segment-files.ts';
import { MIN_I_FRAME_SECONDS } from '../../plan/key-frames.ts';
import {
  hostileOutput,
  type OutputFile,
  readFrom,
  type ToolOutput,
  ToolOutputError,
} from '../../sandbox/tool-output.ts';
import { outOfDiskSpace, refusal, TranscodeFailure } from '../../transcode-failure.ts';
import { encryptedBytes, encryptSegment } from '../segment-encryption.ts';
import { withStorageRetries } from '../storage-retries.ts';
import { IFrameUploads } from './i-frame-uploads.ts';
import { initializationFact, openOutput, readInitializationFile } from './output-reader.ts';
import { assertNotEmpty, type StoredSegment } from './segment-info.ts';

/** The stored segments of each rendition, by sequence number. */
export type StoredSegments = ReadonlyMap<RenditionName, readonly StoredSegment[]>;

type SegmentFile = { name: string; rendition: TrackRendition; sequence: number };

export type SegmentUploadsOptions = {
  /** The folder that ffmpeg writes to. */
  output: ToolOutput;
  objects: ObjectStore;
  packager: Packager;
  contentKey: Uint8Array;
  /** Object key of a segment. */
  keyOf: (rendition: RenditionName, sequence: number) => string;
  /** The renditions of the plan. */
  renditions: ReadonlySet<RenditionName>;
  /** Those that are stream copies. */
  copied: ReadonlySet<RenditionName>;
  /** The rendition whose I-frames are stored as well; null for none. */
  iFramesOf: VideoRendition | null;
  /** Maximum number of segments of a rendition; for a piece, exactly its number of segments. */
  maxSegments: number;
  /**
   * The numbers of the first segment and I-frame of a piece, and whether another piece follows it. ffmpeg writes segments of pieces
   * under their final names, so a segment is complete when the next one exists. Undefined for a whole video.
   */
  piece?: { firstSegment: number; firstIFrame: number; isFollowed: boolean } | undefined;
  /** Maximum size of a segment. */
  maxBytes: number;
  /** Aborts the uploads. */
  signal: AbortSignal;
  /**
   * Called once, when a segment cannot be stored or is invalid. The caller stops the encode.
   */
  onFailure: (failure: TranscodeFailure | InvalidSegmentError) => void;
  /** Called when the first segment of a rendition is stored. */
  onRenditionStarted?: ((rendition: RenditionName, facts: StartedRendition) => void) | undefined;
};

const MAX_UPLOADS = 4;
/** Finished segments of all renditions that may wait on disk before ffmpeg must pause. */
const MAX_WAITING = 30;
/** With less free disk space, a segment may be truncated. This is several times the size of a segment of all renditions together. */
const MIN_FREE_BYTES = 64 * 1024 ** 2;

/**
 * Encrypts and stores finished segments while ffmpeg writes the next ones, and removes them from the disk. Except in a piece, ffmpeg
 * gives a segment its final name when it is complete.
 */
export class SegmentUploads {
  readonly #options: SegmentUploadsOptions;
  readonly #seen = new Set<string>();
  readonly #waiting: SegmentFile[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stored = new Map<RenditionName, StoredSegment[]>();
  /** The start time of each segment, in the rendition whose segment was stored first. */
  readonly #boundaries: number[] = [];
  /** The configuration of each copied rendition, in the segment that was stored first. */
  readonly #configurations = new Map<RenditionName, string>();
  readonly #readers = new Map<RenditionName, Promise<SegmentReader>>();
  readonly #iFrames: IFrameUploads;
  #failure: TranscodeFailure | InvalidSegmentError | undefined;
  /** The running check of the disks. Segments that begin to be stored at the same time share it. */
  #diskCheck: Promise<void> | undefined;

  constructor(options: SegmentUploadsOptions) {
    this.#options = options;
    const keyOf = (sequence: number) => options.keyOf(I_FRAME_RENDITION, sequence);
    const { firstSegment = 0, firstIFrame: firstSequence = 0 } = options.piece ?? {};
    this.#iFrames = new IFrameUploads({ ...options, keyOf, firstSegment, firstSequence });
  }

  /** Whether ffmpeg must pause until more segments are stored, so that they do not fill the disk. */
  get isBehind(): boolean {
    return this.#waiting.length > MAX_WAITING;
  }

  /** Finds newly finished segments and starts to store them while ffmpeg runs. Never rejects. */
  async collect(): Promise<void> {
    return this.#collect({ isRunning: true });
  }

  async #collect({ isRunning }: { isRunning: boolean }): Promise<void> {
    const { output, packager, renditions, maxSegments, piece } = this.#options;
    const firstSegment = piece?.firstSegment ?? 0;
    try {
      const names = new Set(await output.names());
      for (const name of names) {
        const file = plannedFile(name, renditions, packager);
        if (!file || this.#seen.has(name)) continue;
        if (piece && isRunning && !names.has(segmentFile(file.rendition, file.sequence + 1, packager)))
          continue;
        this.#seen.add(name);
        const isPlanned = file.sequence >= firstSegment && file.sequence < firstSegment + maxSegments;
        if (!isPlanned) {
          throw refusal(
            'malformed_media',
            'The file has more segments than its duration allows. Export it again and upload that.',
          );
        }
        this.#waiting.push(file);
      }
      this.#startUploads();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Resolves with all segments once they are stored. Rejects with the first failure. */
  async finish(): Promise<StoredSegments> {
    await this.#collect({ isRunning: false });
    await this.settle();
    if (this.#failure) throw this.#failure;
    this.#options.signal.throwIfAborted();
    if (this.#options.iFramesOf !== null) this.#stored.set(I_FRAME_RENDITION, this.#iFrames.stored);
    return this.#stored;
  }

  /** Resolves when no upload is running. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #startUploads(): void {
    while (this.#running.size < MAX_UPLOADS && !this.#failure && !this.#options.signal.aborted) {
      const file = this.#waiting.shift();
      if (!file) return;
      const upload = this.#store(file)
        .catch((error: unknown) => this.#fail(error))
        .finally(() => {
          this.#running.delete(upload);
          this.#startUploads();
        });
      this.#running.add(upload);
    }
  }

  async #store(file: SegmentFile): Promise<void> {
    const { output, maxBytes, copied } = this.#options;
    this.#diskCheck ??= this.#assertDiskSpace().finally(() => {
      this.#diskCheck = undefined;
    });
    await this.#diskCheck;
    const segment = await output.file(file.name, maxBytes);
    if (!segment) throw new ToolOutputError(`${file.name} is missing`);
    try {
      const isCopy = copied.has(file.rendition);
      assertNotEmpty(segment, file);
      const reader = await this.#readerOf(file.rendition);
      const { configuration, ...info } = await reader.read(segment, { isCopy });
      if (!isAudioRendition(file.rendition)) this.#assertAligned(file.sequence, info.start);
      if (configuration !== null) this.#assertUnchanged(file, configuration);
      const bytes = await this.#upload(segment, file);
      const segments = this.#stored.get(file.rendition) ?? [];
      segments[file.sequence] = { ...info, bytes };
      this.#stored.set(file.rendition, segments);
      if (file.sequence === 0)
        this.#options.onRenditionStarted?.(file.rendition, {
          codecs: info.codecs,
          ...initializationFact(info),
        });
      if (file.rendition === this.#options.iFramesOf) {
        const frames = await reader.iFrames(readFrom(segment), MIN_I_FRAME_SECONDS);
        await this.#iFrames.add(
          file.sequence,
          frames.map((frame) => ({ ...frame, initialization: info.initialization })),
        );
      }
    } finally {
      await segment.handle.close();
    }
    await output.remove(file.name);
  }

  /** Segments that begin to be stored at the same time share it. */
  #readerOf(rendition: TrackRendition): Promise<SegmentReader> {
    const known = this.#readers.get(rendition);
    if (known !== undefined) return known;
    const { output, packager, copied } = this.#options;
    const isCopy = copied.has(rendition);
    const opened = readInitializationFile(output, initializationFile(rendition), packager).then(
      (initialization) => openOutput(rendition, packager, initialization, { isCopy }),
    );
    this.#readers.set(rendition, opened);
    return opened;
  }

  /**
   * Throws if the disk is full, or the objects' disk is full except for its reserve. ffmpeg reports no error when a segment
   * does not fit on the disk, and gives the truncated file its final name. This check ends such a job early;
   * `assertContiguous` finds truncated segments later.
   */
  async #assertDiskSpace(): Promise<void> {
    const { output, objects } = this.#options;
    const isFull = (await output.freeBytes()) < MIN_FREE_BYTES || (await headroomBytes(objects)) < 0;
    if (isFull) throw outOfDiskSpace();
  }

  #assertAligned(sequence: number, start: number): void {
    this.#boundaries[sequence] ??= start;
    const apart = Math.abs(start - this.#boundaries[sequence]);
    if (apart > ALIGNMENT_TOLERANCE_SECONDS) {
      throw new InvalidSegmentError(
        `Segment ${sequence} starts ${apart.toFixed(3)} s later in one rendition than in another`,
      );
    }
  }

  /** A player that has begun with one configuration would show frames of another size or colour, or hear audio at another rate. */
  #assertUnchanged({ rendition, sequence }: SegmentFile, configuration: string): void {
    const first = this.#configurations.get(rendition) ?? configuration;
    this.#configurations.set(rendition, first);
    if (configuration !== first) {
      throw new InvalidSegmentError(
        `Segment ${sequence} of ${rendition} has other parameter sets or ADTS headers than another segment`,
      );
    }
  }

  async #upload(segment: OutputFile, { name, rendition, sequence }: SegmentFile): Promise<number> {
    const { objects, packager, contentKey, keyOf, signal } = this.#options;
    const options = { contentType: packager.contentType, signal };
    const completed = this.#isLastBeforeNextPiece(sequence)
      ? packager.completed(await buffer(readFrom(segment)))
      : undefined;
    const { bytes } = await withStorageRetries(() => {
      const plaintext = completed ? Readable.from([completed]) : readFrom(segment);
      const ciphertext = encryptSegment(plaintext, contentKey, sequence);
      return objects.putStream(keyOf(rendition, sequence), ciphertext, options);
    }, signal);
    const plaintextBytes = completed?.length ?? segment.bytes;
    if (bytes !== encryptedBytes(plaintextBytes)) throw new ToolOutputError(`${name} became shorter`);
    return bytes;
  }

  /** Whether a segment is the last one of a piece that another piece follows. */
  #isLastBeforeNextPiece(sequence: number): boolean {
    const { piece, maxSegments } = this.#options;
    return piece?.isFollowed === true && sequence === piece.firstSegment + maxSegments - 1;
  }

  #fail(error: unknown): void {
    if (this.#failure || this.#options.signal.aborted) return;
    this.#failure = failureOf(error);
    this.#options.onFailure(this.#failure);
  }
}

function failureOf(error: unknown): TranscodeFailure | InvalidSegmentError {
  if (error instanceof TranscodeFailure || error instanceof InvalidSegmentError) return error;
  if (error instanceof ToolOutputError) return hostileOutput(error);
  const message = 'The engine could not read the segments. Retry the video later.';
  return new TranscodeFailure('internal_error', message, { retryable: true, cause: error });
}

/**
 * Null for a file without the final name of a segment, such as a playlist. Throws a ToolOutputError for a name that ffmpeg does not
 * write: a rendition that is not in the plan, or a number with leading zeros.
 */
function plannedFile(
  name: string,
  renditions: ReadonlySet<RenditionName>,
  packager: Packager,
): SegmentFile | null {
  const file = readSegmentFile(name, packager);
  const rendition = TRACK_RENDITIONS.find((known) => known === file?.rendition);
  if (file === null || rendition === undefined) return null;
  if (renditions.has(rendition) && /^(0|[1-9]\d*)$/.test(file.sequence)) {
    return { name, rendition, sequence: Number(file.sequence) };
  }
  throw new ToolOutputError(`${name} is not a segment of this video`);
}
