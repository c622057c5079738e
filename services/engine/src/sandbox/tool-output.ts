import { constants } from 'node:fs';
import { type FileHandle, open, opendir, unlink } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { freeDiskBytes } from '../disk-space.ts';
import { refusal, type TranscodeFailure } from '../transcode-failure.ts';

/** A tool wrote something that the engine did not ask for. The message is for the log only, as the tool chose the file names. */
export class ToolOutputError extends Error {
  override name = 'ToolOutputError';
}

/** The failure of a try with such output. Most likely the file exploited a vulnerability of the tool. */
export function hostileOutput(cause: ToolOutputError): TranscodeFailure {
  return refusal('transcode_failed', 'The file could not be transcoded.', cause);
}

/** A regular file that a tool wrote, opened for reading. The caller closes it. */
export type OutputFile = {
  handle: FileHandle;
  /** Size when it was opened; `readFrom` reads no more than this. */
  bytes: number;
};

/** Follows no symbolic link, does not block on a FIFO, and does not make a terminal the controlling one. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Errors of opening a link, a socket, a device without a driver, or a file without permissions. */
const NOT_READABLE = ['ELOOP', 'EMLINK', 'ENXIO', 'ENODEV', 'EACCES', 'EPERM'];

/** More than the segments of twelve hours in all renditions. */
const MAX_ENTRIES = 300_000;

/**
 * The folder that ffmpeg writes to. The engine reads its output only through this class. A compromised tool may write
 * anything: links to files of the engine, FIFOs that block on opening, endless files.
 *
 * The folder stays open, and names are resolved relative to its handle (`/proc/self/fd`, Linux), so that a folder put in its
 * place is never read. A name is resolved once, without following a link; all checks apply to the open file.
 */
export class ToolOutput {
  readonly #folder: FileHandle;

  private constructor(folder: FileHandle) {
    this.#folder = folder;
  }

  /** Opens a folder. Call this before a tool has access to it. */
  static async open(folder: string): Promise<ToolOutput> {
    return new ToolOutput(await open(folder, DIRECTORY));
  }

  async close(): Promise<void> {
    await this.#folder.close();
  }

  /** The names of all entries. Throws a ToolOutputError if there are more than any video needs. */
  async names(): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of await opendir(this.#path)) {
      names.push(name);
      if (names.length > MAX_ENTRIES) throw new ToolOutputError('The output has too many files');
    }
    return names;
  }

  /**
   * Opens a file; null if it does not exist. Throws a ToolOutputError if it is not a regular file, has several hard links, or
   * is larger than `maxBytes`.
   */
  async file(name: string, maxBytes: number): Promise<OutputFile | null> {
    const handle = await this.#openFile(name);
    if (!handle) return null;
    try {
      const { size, nlink } = await regularFile(handle, name);
      if (nlink > 1) throw new ToolOutputError(`${name} is a hard link`);
      if (size > maxBytes) throw new ToolOutputError(`${name} has ${size} bytes, more than ${maxBytes}`);
      return { handle, bytes: size };
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /** Removes a file. Removes a link itself, not its target. */
  async remove(name: string): Promise<void> {
    await unlink(`${this.#path}/${name}`);
  }

  /** Free bytes of the folder's disk. */
  async freeBytes(): Promise<number> {
    return freeDiskBytes(this.#path);
  }

  get #path(): string {
    return `/proc/self/fd/${this.#folder.fd}`;
  }

  async #openFile(name: string): Promise<FileHandle | null> {
    try {
      return await open(`${this.#path}/${name}`, READ_ONLY);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      if (!NOT_READABLE.includes(code)) throw error;
      throw new ToolOutputError(`${name} is not a readable file`, { cause: error });
    }
  }
}

/** Streams an open file from its beginning. Can be called repeatedly; the file stays open. */
export function readFrom({ handle, bytes }: OutputFile): Readable {
  return handle.createReadStream({ start: 0, end: bytes - 1, autoClose: false });
}

async function regularFile(handle: FileHandle, name: string) {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new ToolOutputError(`${name} is not a regular file`);
  return stats;
}
