import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { assertPrefix } from '@framelane/object-store/object-keys';
import {
  ObjectNotFoundError,
  type ObjectStore,
  type StoredObject,
} from '@framelane/object-store/object-store';
import { z } from 'zod';
import { DamagedBackupError, UnknownFormatError } from './backup-errors.ts';
import { isBackupId, timelineOf } from './backup-id.ts';
import { readLines } from './compressed-lines.ts';
import { hashOfObject } from './copied-object.ts';
import { type Manifest, readManifest, writeManifest } from './manifest.ts';
import { merged } from './paired.ts';

/** Bytes of a manifest with a million lists. A larger one is not ours. */
const LARGEST_TEXT = 128 * 2 ** 20;

const listedObject = z.object({
  key: z.string(),
  bytes: z.int(),
  /** Null if the object store did not have the object. */
  sha256: z.string().nullable(),
});
/** An object that a backup names. */
export type ListedObject = z.infer<typeof listedObject>;

/** What a place has of a backup. Only a `complete` one can be restored. */
export type BackupState = 'complete' | 'interrupted' | 'damaged' | 'newer_format';

/** A backup in a list. What only the manifest says is null if it cannot be read. */
export type ListedBackup = {
  id: string;
  state: BackupState;
  snapshotAt: string | null;
  objects: number | null;
  bytes: number | null;
};

/**
 * The files of backups in an object store. `backups/<id>/` has what one backup has of its own. `objects/<timeline>/` has the objects of all
 * backups of one timeline, under their own keys.
 *
 * A timeline is the history of one database. A restored database continues another history under the same ids, so it stores other objects
 * under keys that later backups of the lost one have, too. Therefore a restored installation has a new timeline.
 */
export class BackupFolder {
  readonly store: ObjectStore;
  readonly #prefix: string;

  /** `prefix` is empty, or ends with a slash. */
  constructor(store: ObjectStore, prefix: string) {
    if (prefix !== '') assertPrefix(prefix);
    this.store = store;
    this.#prefix = prefix;
  }

  /** The key of a file of one backup. */
  keyOf(id: string, name: string): string {
    return `${this.#prefix}backups/${id}/${name}`;
  }

  /** The key of the file with the sealed secrets. */
  secretsKey(id: string): string {
    return this.keyOf(id, 'secrets.json');
  }

  /** The key of a copy of an object. */
  copyOf(timeline: string, key: string): string {
    return `${this.#prefix}objects/${timeline}/${key}`;
  }

  /** The ids of all backups, or of those of a timeline, the newest first, and whether each is complete. */
  async backups(timeline?: string): Promise<{ id: string; isComplete: boolean }[]> {
    const found = new Map<string, boolean>();
    const root = `${this.#prefix}backups/`;
    for await (const { key } of this.store.list(root)) {
      const [id = '', name] = key.slice(root.length).split('/');
      if (isBackupId(id)) found.set(id, found.get(id) === true || name === 'manifest.json');
    }
    return [...found]
      .map(([id, isComplete]) => ({ id, isComplete }))
      .filter(({ id }) => timeline === undefined || timelineOf(id) === timeline)
      .reverse();
  }

  /** The same, with what the manifests say. */
  async describe(): Promise<ListedBackup[]> {
    const described: ListedBackup[] = [];
    for (const { id, isComplete } of await this.backups()) {
      const { state, manifest } = isComplete ? await this.#read(id) : { state: 'interrupted' as const };
      const { snapshotAt = null, objects } = manifest ?? {};
      described.push({
        id,
        state,
        snapshotAt,
        objects: objects?.count ?? null,
        bytes: objects?.bytes ?? null,
      });
    }
    return described;
  }

  async #read(id: string): Promise<{ state: BackupState; manifest?: Manifest }> {
    try {
      return { state: 'complete', manifest: await this.manifest(id) };
    } catch (error) {
      if (error instanceof UnknownFormatError) return { state: 'newer_format' };
      if (error instanceof DamagedBackupError) return { state: 'damaged' };
      throw error;
    }
  }

  /** The manifest of a complete backup. Throws a DamagedBackupError or an UnknownFormatError. */
  async manifest(id: string): Promise<Manifest> {
    const key = this.keyOf(id, 'manifest.json');
    return readManifest(await this.#text(key), id, key);
  }

  async writeManifest(id: string, manifest: Manifest): Promise<void> {
    await this.#write(this.keyOf(id, 'manifest.json'), writeManifest(manifest));
  }

  /** The sealed secrets of a backup. Throws a DamagedBackupError. */
  async secrets(id: string, { secrets: { sha256 } }: Pick<Manifest, 'secrets'>): Promise<string> {
    const key = this.secretsKey(id);
    const text = await this.#text(key);
    if (hashOf(text) !== sha256) throw new DamagedBackupError(key);
    return text;
  }

  async writeSecrets(id: string, sealed: string): Promise<Manifest['secrets']> {
    await this.#write(this.secretsKey(id), sealed);
    return { sha256: hashOf(sealed) };
  }

  /** The objects that a complete backup names, in order. Throws a DamagedBackupError. */
  async *listed(id: string, { objects }: Pick<Manifest, 'objects'>): AsyncGenerator<ListedObject, void> {
    for (const { name, sha256 } of objects.lists) yield* this.#readList(this.keyOf(id, name), sha256);
  }

  /** Throws a DamagedBackupError if a list of objects is not as it was written. */
  async requireIntactLists(id: string): Promise<void> {
    const { objects } = await this.manifest(id);
    for (const { name, sha256 } of objects.lists) {
      const key = this.keyOf(id, name);
      if ((await hashOfObject(() => this.store.get(key))) !== sha256) throw new DamagedBackupError(key);
    }
  }

  /**
   * The hashes that the backups, complete or not, have of their objects, in order. A list that cannot be read ends before its time, and one of a newer format
   * is left out.
   */
  known(ids: readonly string[], onDamage: (error: DamagedBackupError) => void): AsyncIterable<ListedObject> {
    return merged(ids.map((id) => this.#knownOf(id, onDamage)));
  }

  async *#knownOf(
    id: string,
    onDamage: (error: DamagedBackupError) => void,
  ): AsyncGenerator<ListedObject, void> {
    try {
      if ((await this.#read(id)).state === 'newer_format') return;
      for await (const { key } of this.store.list(this.keyOf(id, 'objects/'))) yield* this.#readList(key);
    } catch (error) {
      if (!(error instanceof DamagedBackupError)) throw error;
      onDamage(error);
    }
  }

  async *#readList(key: string, sha256?: string): AsyncGenerator<ListedObject, void> {
    for await (const line of readLines(this.store, key, sha256)) {
      yield listedIn(line, key);
    }
  }

  /** The copies of the objects of a timeline, in order. */
  async *copies(timeline: string): AsyncGenerator<{ key: string; bytes: number }, void> {
    const root = this.copyOf(timeline, '');
    for await (const { key, bytes } of this.store.list(root)) yield { key: key.slice(root.length), bytes };
  }

  /** Opens a copy of an object. */
  open(timeline: string, key: string): Promise<StoredObject> {
    return this.store.get(this.copyOf(timeline, key));
  }

  /** Removes copies of objects. */
  async removeCopies(timeline: string, keys: readonly string[]): Promise<void> {
    await this.store.delete(keys.map((key) => this.copyOf(timeline, key)));
  }

  /** Removes a backup, without its objects. The manifest goes first: what remains after a kill is no complete backup. */
  async remove(id: string): Promise<void> {
    await this.store.delete([this.keyOf(id, 'manifest.json')]);
    await this.store.deletePrefix(this.keyOf(id, ''));
  }

  /**
   * Removes the unfinished files of commands that were killed before a time. A bucket may have unfinished uploads of other programs, which stay. Resolves with
   * the number of files.
   */
  removeUnfinished(before: Date): Promise<number> {
    const roots = ['backups/', 'objects/'].map((root) => this.#prefix + root);
    const isForeign = async (key: string) => !roots.some((root) => key.startsWith(root));
    return this.store.abortStaleUploads(before, isForeign);
  }

  async #text(key: string): Promise<string> {
    const { body, bytes } = await this.store.get(key).catch((error: unknown) => {
      throw error instanceof ObjectNotFoundError ? new DamagedBackupError(key, error) : error;
    });
    if (bytes > LARGEST_TEXT) {
      body.destroy();
      throw new DamagedBackupError(key);
    }
    return (await buffer(body)).toString('utf8');
  }

  async #write(key: string, text: string): Promise<void> {
    await this.store.put(key, Buffer.from(text), 'application/json');
  }
}

function listedIn(line: string, key: string): ListedObject {
  try {
    return listedObject.parse(JSON.parse(line));
  } catch (error) {
    throw new DamagedBackupError(key, error);
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
