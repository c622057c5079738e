import { type SlotHolder, slowHolders } from './slow-holder.ts';
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

  /**
   * Takes a slot, or the prospect of that of a slow upload, which gives way only when the control plane has admitted the upload (`admit`):
   * anybody can send a request. Throws a 503 Problem when there is neither.
   */
  take(): UploadSlot {
    const excess = this.#slots.size - this.#max;
    if (excess >= 0 && excess >= this.#slowUploads().length) throw tooManyUploads();
    const slot: UploadSlot = new UploadSlot(
      () => this.#slots.delete(slot),
      () => this.#makeRoom(),
    );
    this.#slots.add(slot);
    return slot;
  }

  #makeRoom(): void {
    // Requests that may still be refused end no upload.
    if (this.#admitted().length <= this.#max) return;
    const [slow] = this.#slowUploads();
    const held = [...this.#slots].find(({ upload }) => upload !== undefined && upload === slow);
    // All may have become fast enough meanwhile. Then there is one upload too many for a while.
    if (slow === undefined || held === undefined) return;
    // It still cleans up, but takes no more bytes.
    held.free();
    slow.giveWay();
  }

  #slowUploads(): YieldingUpload[] {
    return slowHolders(this.#admitted(), this.#minBytesPerSecond);
  }

  #admitted(): YieldingUpload[] {
    return [...this.#slots].flatMap((slot) => slot.upload ?? []);
  }
}

/** The slot of one upload. */
export class UploadSlot {
  #upload: YieldingUpload | undefined;
  readonly #makeRoom: () => void;
  /** Frees the slot. Calling it again has no effect. */
  readonly free: () => void;

  constructor(free: () => void, makeRoom: () => void) {
    this.free = free;
    this.#makeRoom = makeRoom;
  }

  /** Undefined until the control plane has admitted the upload. */
  get upload(): YieldingUpload | undefined {
    return this.#upload;
  }

  /** Call when the control plane has admitted the upload. If no slot was free, a slow upload gives way now. */
  admit(upload: YieldingUpload): void {
    this.#upload = upload;
    this.#makeRoom();
  }
}
