import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { MIN_I_FRAME_SECONDS } from '../plan/tasks.ts';
import { avcCodecString, startsWithIdr } from './codec-strings.ts';
import { encryptSegment } from './segment-encryption.ts';
import type { StoredSegment } from './segment-info.ts';
import { withStorageRetries } from './storage-retries.ts';
import { type OutputFile, readFrom } from './tool-output.ts';
import { type AccessUnit, elementaryStream, KeyFrames } from './transport-stream.ts';

type IFrameUploadsOptions = {
  objects: ObjectStore;
  contentKey: Uint8Array;
  /** Object key of an I-frame. */
  keyOf: (sequence: number) => string;
  /** The numbers of the first segment, and of the first I-frame in it. */
  firstSegment: number;
  firstSequence: number;
  signal: AbortSignal;
};

/** Reads the I-frames of a video segment, each as a transport stream. */
export async function readIFrames(segment: OutputFile): Promise<readonly AccessUnit[]> {
  const frames = new KeyFrames(MIN_I_FRAME_SECONDS);
  for await (const chunk of readFrom(segment)) frames.push(chunk as Buffer);
  return frames.end().filter(({ stream }) => startsWithIdr(elementaryStream(stream)));
}

/** Encrypts and stores the I-frames of one rendition. Their numbers follow those of the segments, which can arrive in any order. */
export class IFrameUploads {
  readonly #options: IFrameUploadsOptions;
  readonly #waiting = new Map<number, readonly AccessUnit[]>();
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
  async add(segment: number, frames: readonly AccessUnit[]): Promise<void> {
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

  async #store({ start, stream }: AccessUnit): Promise<void> {
    const { objects, contentKey, keyOf, signal } = this.#options;
    const sequence = this.#options.firstSequence + this.#stored.length;
    const ciphertext = await buffer(encryptSegment(Readable.from([stream]), contentKey, sequence));
    await withStorageRetries(() => objects.put(keyOf(sequence), ciphertext, 'video/mp2t'), signal);
    const codecs = avcCodecString(elementaryStream(stream));
    this.#stored.push({ codecs, start, last: start, pesPackets: 1, bytes: ciphertext.length });
  }
}
