import { createHash } from 'node:crypto';
import { access, constants, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { UploadTicket, UploadTicketRequest } from '@framelane/client';
import type { KeptTicket } from '@framelane/client/node';
import { CliError } from '../cli-error.ts';
import type { Connection } from '../connection.ts';
import type { Host } from '../host.ts';

/** The file to upload, as `stat` describes it: after a change it is another one. */
export type FileIdentity = { path: string; size: number; modified: number };

/** No ticket is valid for longer: see `UPLOAD_MAX_HOURS` in docs/configuration.md. */
const FORGOTTEN_AFTER_DAYS = 30;

/** The directory of the tickets, by the XDG Base Directory Specification. */
export function ticketsDirectory(env: Host['env']): string {
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local/state'), 'framelane', 'uploads');
}

/** The name of a ticket: the same file, installation and fields continue an upload. */
export function ticketName(
  { baseUrl, workspaceId }: Connection,
  file: FileIdentity,
  fields: Partial<UploadTicketRequest>,
): string {
  const identity = JSON.stringify([baseUrl, workspaceId, file.path, file.size, file.modified, fields]);
  return `${createHash('sha256').update(identity).digest('hex').slice(0, 32)}.json`;
}

/** Keeps a ticket in a file that only the user can read, because its token lets others upload. */
export class StoredTicket implements KeptTicket {
  readonly #directory: string;
  readonly #path: string;

  constructor(directory: string, name: string) {
    this.#directory = directory;
    this.#path = join(directory, name);
  }

  /**
   * A ticket that cannot be read is of no use: the upload starts over. Throws a CliError if none can be kept, before one is asked for: its video
   * would be left behind.
   */
  async get(): Promise<UploadTicket | null> {
    await explained(async () => {
      await mkdir(this.#directory, { recursive: true, mode: 0o700 });
      await access(this.#directory, constants.W_OK);
    });
    try {
      const ticket = JSON.parse(await readFile(this.#path, 'utf8'));
      return typeof ticket.uploadToken === 'string' ? ticket : null;
    } catch {
      return null;
    }
  }

  /** Throws a CliError that says where another place can be named. */
  async set(ticket: UploadTicket): Promise<void> {
    const next = `${this.#path}.${process.pid}`;
    await explained(async () => {
      await writeFile(next, JSON.stringify(ticket), { mode: 0o600 });
      await rename(next, this.#path);
    });
  }

  async delete(): Promise<void> {
    await rm(this.#path, { force: true });
  }
}

async function explained(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new CliError(
      `The ticket of the upload cannot be kept: ${(error as Error).message}. ` +
        'Set XDG_STATE_HOME to a directory that you can write to.',
    );
  }
}

/** Deletes tickets that cannot be valid any more. */
export async function forgetOldTickets(directory: string, now = Date.now()): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: now }));
    if (now - mtimeMs > FORGOTTEN_AFTER_DAYS * 86_400_000) await rm(path, { force: true });
  }
}
