import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ObjectStore } from '@framelane/object-store/object-store';
import type { IFrame, Packager } from '../../packagers/packager.ts';
import { encryptSegment } from '../segment-encryption.ts';
import { withStorageRetries } from '../storage-retries.ts';
import type { StoredSegment } from './segment-info.ts';

type IFrameUploadsOptions = {
  objects: ObjectStore;
  packager: Packager;
  contentKey: Uint8Array;
  /** Object key of an I-frame. */
  keyOf: (sequence: number) => string;
  /** The numbers of the first segment, and of the first I-frame in it. */
  firstSegment: number;
  firstSequence: number;
  signal: AbortSignal;
};

type FrameToStore = IFrame & Pick<StoredSegment, 'initialization'>;

/** Encrypts and stores the I-frames of one rendition. Their numbers follow those of the segments, which can arrive in any order. */
export class IFrameUploads {
  readonly #options: IFrameUploadsOptions;
  readonly #waiting = new Map<number, readonly FrameToStore[]>();
  readonly #stored: StoredSegment[] = [];
  #nextSegment: number;
  #running: Promise<void> = Promise.resolve();

  constructor(options: IFrameUploadsOptions) {
    this.#options = options;
    this.#nextSegment = options.firstSegment;
  }

  /** The stored I-frames in order, once every `add` has resolved. */
  get stored(): StoredSegment[] {
    return this.#stored;
  }

  /** Takes the I-frames of a segment. Resolves when they are stored, or wait for an earlier segment. */
  async add(segment: number, frames: readonly FrameToStore[]): Promise<void> {
    this.#waiting.set(segment, frames);
    const work = this.#running.then(() => this.#storeInOrder());
    this.#running = work.catch(() => {});
    return work;
  }

  async #storeInOrder(): Promise<void> {
    for (;;) {
      const frames = this.#waiting.get(this.#nextSegment);
      if (frames === undefined) return;
      this.#waiting.delete(this.#nextSegment);
      this.#nextSegment += 1;
      for (const frame of frames) await this.#store(frame);
    }
  }

  async #store({ segment, ...frame }: FrameToStore): Promise<void> {
    const { objects, packager, contentKey, keyOf, signal } = this.#options;
    const sequence = this.#options.firstSequence + this.#stored.length;
    const ciphertext = await buffer(encryptSegment(Readable.from([segment]), contentKey, sequence));
    await withStorageRetries(() => objects.put(keyOf(sequence), ciphertext, packager.contentType), signal);
    this.#stored.push({ ...frame, last: frame.start, units: 1, bytes: ciphertext.length });
  }
}
