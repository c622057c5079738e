import { AUDIO_RENDITION, RENDITIONS, type RenditionName } from '@framelane/contracts/renditions';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { headroomBytes } from '../disk-space.ts';
import { outOfDiskSpace, refusal, TranscodeFailure } from '../transcode-failure.ts';
import { encryptedBytes, encryptSegment } from './segment-encryption.ts';
import { readSegmentHead, type SegmentHead, UnfitSegmentError } from './segment-info.ts';
import { withStorageRetries } from './storage-retries.ts';
import { hostileOutput, type OutputFile, readFrom, type ToolOutput, ToolOutputError } from './tool-output.ts';

/** A segment in storage: what it says of itself, and the size of its ciphertext. */
export type StoredSegment = SegmentHead & { bytes: number };

/** What is stored of each rendition, by sequence number. */
export type StoredSegments = ReadonlyMap<RenditionName, readonly StoredSegment[]>;

type SegmentFile = { name: string; rendition: RenditionName; sequence: number };

type SegmentUploadsOptions = {
  /** Where ffmpeg writes. */
  output: ToolOutput;
  objects: ObjectStore;
  contentKey: Uint8Array;
  /** Storage key of a segment. */
  keyOf: (rendition: RenditionName, sequence: number) => string;
  /** What is encoded. */
  renditions: ReadonlySet<RenditionName>;
  /** Most segments a rendition may have. */
  maxSegments: number;
  /** Most bytes a segment may have. */
  maxBytes: number;
  /** Gives up when this aborts. */
  signal: AbortSignal;
  /**
   * Called once, with a TranscodeFailure or an UnfitSegmentError, when a segment cannot be stored or must not be: the
   * encode is in vain then.
   */
  onFailure: (failure: TranscodeFailure | UnfitSegmentError) => void;
};

const UPLOADS_AT_ONCE = 4;
/** Finished segments that may wait on disk, of all renditions together. */
const MAX_WAITING = 30;
/** With less of the disk free, a segment may be missing its end: several times what a segment has in all renditions. */
const LEAST_FREE_BYTES = 64 * 1024 ** 2;
/** How far apart the beginnings of one segment in two renditions may be (HLS authoring specification 8.22). */
const ALIGNED_SECONDS = 0.001;

/**
 * Takes the finished segments from ffmpeg's folder while it goes on writing: encrypts them, stores them, removes them
 * from disk. ffmpeg gives a segment its final name when it is complete, so whatever has one is ready.
 */
export class SegmentUploads {
  readonly #options: SegmentUploadsOptions;
  readonly #seen = new Set<string>();
  readonly #waiting: SegmentFile[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stored = new Map<RenditionName, StoredSegment[]>();
  /** Where the first rung to get there begins each segment. */
  readonly #boundaries: number[] = [];
  #failure: TranscodeFailure | UnfitSegmentError | undefined;

  constructor(options: SegmentUploadsOptions) {
    this.#options = options;
  }

  /** Whether so much waits for the storage that ffmpeg had better wait, too: what is not stored fills the disk. */
  get isBehind(): boolean {
    return this.#waiting.length > MAX_WAITING;
  }

  /** Looks for newly finished segments and begins to store them. Never rejects. */
  async collect(): Promise<void> {
    try {
      for (const name of await this.#options.output.names()) {
        const file = segmentFile(name, this.#options.renditions);
        if (!file || this.#seen.has(name)) continue;
        this.#seen.add(name);
        if (file.sequence >= this.#options.maxSegments) {
          throw refusal('malformed_media', 'The video has more segments than its length allows.');
        }
        this.#waiting.push(file);
      }
      this.#startWaiting();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Resolves when all segments found are stored, with what is known of each rendition. Rejects with a failure. */
  async finish(): Promise<StoredSegments> {
    await this.collect();
    await this.settle();
    if (this.#failure) throw this.#failure;
    this.#options.signal.throwIfAborted();
    return this.#stored;
  }

  /** Resolves when nothing is under way any more. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #startWaiting(): void {
    while (this.#running.size < UPLOADS_AT_ONCE && !this.#failure && !this.#options.signal.aborted) {
      const file = this.#waiting.shift();
      if (!file) return;
      const upload = this.#store(file)
        .catch((error: unknown) => this.#fail(error))
        .finally(() => {
          this.#running.delete(upload);
          this.#startWaiting();
        });
      this.#running.add(upload);
    }
  }

  async #store(file: SegmentFile): Promise<void> {
    const { output, maxBytes } = this.#options;
    await this.#assertDiskSpace();
    const segment = await output.file(file.name, maxBytes);
    if (!segment) throw new ToolOutputError(`${file.name} is gone`);
    try {
      const kind = file.rendition === AUDIO_RENDITION ? 'audio' : 'video';
      const head = await readSegmentHead(segment, { kind, sequence: file.sequence });
      if (kind === 'video') this.#assertAligned(file.sequence, head.start);
      const bytes = await this.#upload(segment, file);
      const segments = this.#stored.get(file.rendition) ?? [];
      segments[file.sequence] = { ...head, bytes };
      this.#stored.set(file.rendition, segments);
    } finally {
      await segment.handle.close();
    }
    await output.remove(file.name);
  }

  /**
   * ffmpeg says nothing of a disk that has no room for a segment, and gives what it could write its final name. While the
   * disk is full this ends the job early; what was cut off is found by its end (see `assertJoined`). Segments leave the
   * reserve of the disk with the objects to others, too.
   */
  async #assertDiskSpace(): Promise<void> {
    const { output, objects } = this.#options;
    if ((await output.freeBytes()) < LEAST_FREE_BYTES || (await headroomBytes(objects)) < 0)
      throw outOfDiskSpace();
  }

  #assertAligned(sequence: number, start: number): void {
    this.#boundaries[sequence] ??= start;
    const apart = Math.abs(start - this.#boundaries[sequence]);
    if (apart > ALIGNED_SECONDS) {
      throw new UnfitSegmentError(`Segment ${sequence} begins ${apart.toFixed(3)} s apart in two rungs`);
    }
  }

  async #upload(segment: OutputFile, { name, rendition, sequence }: SegmentFile): Promise<number> {
    const { objects, contentKey, keyOf, signal } = this.#options;
    const options = { contentType: 'video/mp2t', signal };
    const { bytes } = await withStorageRetries(() => {
      const ciphertext = encryptSegment(readFrom(segment), contentKey, sequence);
      return objects.putStream(keyOf(rendition, sequence), ciphertext, options);
    }, signal);
    if (bytes !== encryptedBytes(segment.bytes)) throw new ToolOutputError(`${name} became shorter`);
    return bytes;
  }

  #fail(error: unknown): void {
    if (this.#failure || this.#options.signal.aborted) return;
    this.#failure =
      error instanceof TranscodeFailure || error instanceof UnfitSegmentError
        ? error
        : error instanceof ToolOutputError
          ? hostileOutput(error)
          : new TranscodeFailure('internal_error', 'The segments could not be read.', {
              retryable: true,
              cause: error,
            });
    this.#options.onFailure(this.#failure);
  }
}

/**
 * Null for playlists and for segments still being written. Throws a ToolOutputError when ffmpeg was not to write a segment of
 * this name: of a rendition that is not encoded, or a second one of the same number.
 */
function segmentFile(name: string, renditions: ReadonlySet<RenditionName>): SegmentFile | null {
  const [, prefix, sequence] = /^(\w+)-(\d+)\.ts$/.exec(name) ?? [];
  const known = RENDITIONS.find((rendition) => rendition === prefix);
  if (known === undefined || sequence === undefined) return null;
  if (renditions.has(known) && /^(0|[1-9]\d*)$/.test(sequence)) {
    return { name, rendition: known, sequence: Number(sequence) };
  }
  throw new ToolOutputError(`${name} is no segment of this video`);
}
