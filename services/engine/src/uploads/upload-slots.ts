import { type SlotHolder, slowHolder } from './slow-holder.ts';
import { tooManyUploads } from './upload-problems.ts';

/** An upload that can end to make room. */
export type YieldingUpload = SlotHolder & { giveWay(): void };

/** Limits the concurrent uploads of this engine, of both kinds together. */
export class UploadSlots {
  readonly #max: number;
  readonly #minBytesPerSecond: number;
  readonly #slots = new Set<UploadSlot>();

  /** An upload slower than `minBytesPerSecond` gives way when another one needs its slot. */
  constructor(max: number, minBytesPerSecond: number) {
    this.#max = max;
    this.#minBytesPerSecond = minBytesPerSecond;
  }

  /** Takes a slot, or that of a slow upload. Throws a 503 Problem when there is neither. */
  take(): UploadSlot {
    if (this.#slots.size >= this.#max) this.#makeRoom();
    const slot = new UploadSlot(() => this.#slots.delete(slot));
    this.#slots.add(slot);
    return slot;
  }

  #makeRoom(): void {
    const uploads = [...this.#slots].flatMap((slot) => slot.upload ?? []);
    const slow = slowHolder(uploads, this.#minBytesPerSecond);
    const held = [...this.#slots].find(({ upload }) => upload !== undefined && upload === slow);
    if (slow === undefined || held === undefined) throw tooManyUploads();
    // It still cleans up, but takes no more bytes.
    held.free();
    slow.giveWay();
  }
}

/** The slot of one upload. */
export class UploadSlot {
  /** Undefined until the control plane has admitted the upload. */
  upload: YieldingUpload | undefined;
  /** Frees the slot. Calling it again has no effect. */
  readonly free: () => void;

  constructor(free: () => void) {
    this.free = free;
  }
}
