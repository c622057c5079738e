import { constants } from 'node:fs';
import { type FileHandle, open, opendir, unlink } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { freeDiskBytes } from '../disk-space.ts';
import { refusal, type TranscodeFailure } from '../transcode-failure.ts';

/** What a tool wrote is not what it was run to write. For the log only: the name is the tool's choice. */
export class ToolOutputError extends Error {
  override name = 'ToolOutputError';
}

/** The failure of an attempt whose tool wrote such output: the file has exploited a fault in the tool. */
export function hostileOutput(cause: ToolOutputError): TranscodeFailure {
  return refusal('transcode_failed', 'The video could not be transcoded.', cause);
}

/** A regular file that a tool wrote, open to be read. Close it. */
export type OutputFile = {
  handle: FileHandle;
  /** Its size when it was opened, which is also the most that is read of it. */
  bytes: number;
};

/** Neither a link nor the wait for the other end of a FIFO is followed, and no terminal taken over. */
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** What opening a link, a socket, a device without a driver, or a file without permissions fails with. */
const NOT_READABLE = ['ELOOP', 'EMLINK', 'ENXIO', 'ENODEV', 'EACCES', 'EPERM'];

/** More than twelve hours of segments in all renditions. */
const MOST_ENTRIES = 100_000;

/**
 * The folder that ffmpeg writes to, and the only way the engine reads what is there. A tool that was taken over may
 * leave anything in it: links to files of the engine, FIFOs that block whoever opens them, files without end.
 *
 * The folder is held open, and names are resolved in it through the handle (`/proc/self/fd`, Linux): a folder put in its
 * place is never read. A name is resolved once, without following a link, and everything is checked on what is then open.
 */
export class ToolOutput {
  readonly #folder: FileHandle;

  private constructor(folder: FileHandle) {
    this.#folder = folder;
  }

  /** Opens a folder that no tool has had access to yet. */
  static async open(folder: string): Promise<ToolOutput> {
    return new ToolOutput(await open(folder, DIRECTORY));
  }

  async close(): Promise<void> {
    await this.#folder.close();
  }

  /** Names of everything in the folder. Throws a ToolOutputError when there are more than any video has. */
  async names(): Promise<string[]> {
    const names: string[] = [];
    for await (const { name } of await opendir(this.#path)) {
      names.push(name);
      if (names.length > MOST_ENTRIES) throw new ToolOutputError('The output has too many files');
    }
    return names;
  }

  /**
   * Opens a file; null when nothing has this name. Throws a ToolOutputError when it is no regular file, has another name
   * elsewhere (a hard link), or has more than `maxBytes`.
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

  /** Removes a file, or a link itself. */
  async remove(name: string): Promise<void> {
    await unlink(`${this.#path}/${name}`);
  }

  /** Bytes that can still be written where the folder is. */
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
      throw new ToolOutputError(`${name} is no file that can be read`, { cause: error });
    }
  }
}

/** A stream of an open file from its beginning, as often as wanted. The file stays open. */
export function readFrom({ handle, bytes }: OutputFile): Readable {
  return handle.createReadStream({ start: 0, end: bytes - 1, autoClose: false });
}

async function regularFile(handle: FileHandle, name: string) {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new ToolOutputError(`${name} is no regular file`);
  return stats;
}
