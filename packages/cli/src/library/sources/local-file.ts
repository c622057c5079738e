import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { CliError } from '../../cli-error.ts';

/** What Framelane accepts as captions, and more than any other file beside a video has. */
const MAX_BYTES = 2 * 1024 ** 2;
const FINGERPRINT_BYTES = 256 * 1024;

/** Reads a small file. Throws a CliError if it is larger than 2 MiB. */
export async function readSmallFile(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    if (size > MAX_BYTES) throw new CliError(`${path} has more than 2 MiB.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Reads a small text file. Throws a CliError if it is not UTF-8. */
export async function readSmallText(path: string): Promise<string> {
  return utf8Text(path, await readSmallFile(path));
}

/** The text of a file, without a byte order mark. Throws a CliError if it is not UTF-8. */
export function utf8Text(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CliError(`${name} is not UTF-8 text. Convert it, for example with iconv.`, { cause });
  }
}

/** Tells files apart by their size, their beginning and their end: fast for files of any size. */
export async function fingerprintOf(path: string): Promise<{ size: number; fingerprint: string }> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const hash = createHash('sha256').update(String(size));
    for (const position of [0, Math.max(0, size - FINGERPRINT_BYTES)]) {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(FINGERPRINT_BYTES), position });
      hash.update(buffer.subarray(0, bytesRead));
    }
    return { size, fingerprint: hash.digest('hex').slice(0, 32) };
  } finally {
    await file.close();
  }
}
