import { type FileHandle, open } from 'node:fs/promises';
import type { Checkpoint, ResumableWriter } from './object-store.ts';

/** Continues a file at its end. */
export class FileResumableWriter implements ResumableWriter {
  exact: boolean;
  readonly #file: FileHandle | null;
  readonly #publish: () => Promise<void>;
  #offset: number;

  /** `publish` moves the file to where the object belongs. */
  static async open(
    path: string,
    { exact }: Checkpoint,
    offset: number,
    publish: () => Promise<void>,
  ): Promise<FileResumableWriter> {
    const file = await open(path, 'r+');
    await file.truncate(offset);
    return new FileResumableWriter(file, exact, offset, publish);
  }

  /** Without a file, the object is complete. */
  constructor(file: FileHandle | null, exact: boolean, offset: number, publish: () => Promise<void>) {
    this.#file = file;
    this.exact = exact;
    this.#offset = offset;
    this.#publish = publish;
  }

  get offset(): number {
    return this.#offset;
  }

  async write(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.byteLength; ) {
      const { bytesWritten = 0 } = (await this.#file?.write(chunk, at, null, this.#offset)) ?? {};
      at += bytesWritten;
      this.#offset += bytesWritten;
    }
  }

  async settle(): Promise<Checkpoint> {
    await this.#file?.sync();
    return { id: 'file', reached: this.#offset, pieces: [], exact: this.exact };
  }

  async prune(): Promise<void> {
    // A file has no pieces.
  }

  async complete(): Promise<void> {
    await this.#publish();
  }

  async close(): Promise<void> {
    await this.#file?.close().catch(() => {});
  }
}
