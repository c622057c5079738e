import { type FileHandle, open } from 'node:fs/promises';
import type { Checkpoint, ResumableWriter } from './object-store.ts';

/** Continues a file at its end. */
export class FileResumableWriter implements ResumableWriter {
  laterBytesUntrusted: boolean;
  readonly #file: FileHandle | null;
  readonly #publish: () => Promise<void>;
  #offset: number;

  /** `publish` moves the file to where the object belongs. */
  static async open(
    path: string,
    { laterBytesUntrusted }: Checkpoint,
    offset: number,
    publish: () => Promise<void>,
  ): Promise<FileResumableWriter> {
    const file = await open(path, 'r+');
    try {
      await file.truncate(offset);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new FileResumableWriter(file, laterBytesUntrusted, offset, publish);
  }

  /** Without a file, the object is complete. */
  constructor(
    file: FileHandle | null,
    laterBytesUntrusted: boolean,
    offset: number,
    publish: () => Promise<void>,
  ) {
    this.#file = file;
    this.laterBytesUntrusted = laterBytesUntrusted;
    this.#offset = offset;
    this.#publish = publish;
  }

  get offset(): number {
    return this.#offset;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#file === null) throw new Error('The object is complete');
    for (let at = 0; at < chunk.byteLength; ) {
      const { bytesWritten } = await this.#file.write(chunk, at, null, this.#offset);
      at += bytesWritten;
      this.#offset += bytesWritten;
    }
  }

  async settle(): Promise<Checkpoint> {
    await this.#file?.sync();
    return {
      id: 'file',
      durableBytes: this.#offset,
      tail: [],
      laterBytesUntrusted: this.laterBytesUntrusted,
    };
  }

  async prune(): Promise<void> {
    // A file has no tail objects.
  }

  async complete(): Promise<void> {
    await this.#publish();
  }

  async close(): Promise<void> {
    await this.#file?.close().catch(() => {});
  }
}
