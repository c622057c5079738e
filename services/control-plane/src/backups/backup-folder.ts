import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { assertPrefix } from '@framelane/object-store/object-keys';
import type { ObjectStore, StoredObject } from '@framelane/object-store/object-store';
import { z } from 'zod';
import { DamagedBackupError, readLines } from './compressed-lines.ts';
import { merged } from './paired.ts';

/** The format that this version writes. It reads no other. */
const VERSION = 1;

const hashedFile = { sha256: z.string() };

/** What a complete backup consists of. It is written last. */
const manifestSchema = z.object({
  format: z.literal('framelane-backup'),
  version: z.literal(VERSION),
  startedAt: z.iso.datetime(),
  /** The time of the database, whose rows the backup has. */
  snapshotAt: z.iso.datetime(),
  completedAt: z.iso.datetime(),
  /** The names of the migrations of the schema, in order. */
  migrations: z.array(z.string()).min(1),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()), rows: z.int(), ...hashedFile })),
  objects: z.object({
    count: z.int(),
    bytes: z.int(),
    /** Objects that the rows name, but the object store did not have. */
    missing: z.int(),
    lists: z.array(z.object({ name: z.string(), ...hashedFile })),
  }),
});
export type Manifest = z.infer<typeof manifestSchema>;

const listedObject = z.object({
  key: z.string(),
  bytes: z.int(),
  /** Null if the object store did not have the object. */
  sha256: z.string().nullable(),
});
/** An object that a backup names. */
export type ListedObject = z.infer<typeof listedObject>;

/** The id of a backup is the time at which it began, and its timeline: ids sort by age. */
const ID = /^\d{8}T\d{9}Z-([0-9a-f]{16})$/;

/** A new id, such as `20261129T170500000Z-0a1b2c3d4e5f6071`. */
export function newBackupId(now: Date, timeline: string): string {
  return `${now.toISOString().replaceAll(/[-:.]/g, '')}-${timeline}`;
}

/** The id of a new timeline. */
export function newTimeline(): string {
  return randomBytes(8).toString('hex');
}

/** The timeline of a backup. */
export function timelineOf(id: string): string {
  return id.slice(id.lastIndexOf('-') + 1);
}

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
      if (ID.test(id)) found.set(id, found.get(id) === true || name === 'manifest.json');
    }
    return [...found]
      .map(([id, isComplete]) => ({ id, isComplete }))
      .filter(({ id }) => timeline === undefined || timelineOf(id) === timeline)
      .reverse();
  }

  /** The manifest of a complete backup. Throws a DamagedBackupError, also for another version. */
  async manifest(id: string): Promise<Manifest> {
    const key = this.keyOf(id, 'manifest.json');
    try {
      return manifestSchema.parse(JSON.parse(await this.#text(key)));
    } catch (error) {
      throw new DamagedBackupError(key, error);
    }
  }

  async writeManifest(id: string, manifest: Omit<Manifest, 'format' | 'version'>): Promise<void> {
    const text = JSON.stringify({ format: 'framelane-backup', version: VERSION, ...manifest }, null, 2);
    await this.#write(this.keyOf(id, 'manifest.json'), text);
  }

  /** The sealed secrets of a backup. Throws a DamagedBackupError. */
  async secrets(id: string): Promise<string> {
    const key = this.keyOf(id, 'secrets.json');
    return this.#text(key).catch((error: unknown) => {
      throw new DamagedBackupError(key, error);
    });
  }

  async writeSecrets(id: string, sealed: string): Promise<void> {
    await this.#write(this.keyOf(id, 'secrets.json'), sealed);
  }

  /** The objects that a complete backup names, in order. Throws a DamagedBackupError. */
  async *listed(id: string, { objects }: Pick<Manifest, 'objects'>): AsyncGenerator<ListedObject, void> {
    for (const { name, sha256 } of objects.lists) yield* this.#readList(this.keyOf(id, name), sha256);
  }

  /** The hashes that the backups, complete or not, have of their objects, in order. A list that cannot be read ends before its time. */
  known(ids: readonly string[], onDamage: (error: DamagedBackupError) => void): AsyncIterable<ListedObject> {
    return merged(ids.map((id) => this.#knownOf(id, onDamage)));
  }

  async *#knownOf(
    id: string,
    onDamage: (error: DamagedBackupError) => void,
  ): AsyncGenerator<ListedObject, void> {
    try {
      for await (const { key } of this.store.list(this.keyOf(id, 'objects/'))) yield* this.#readList(key);
    } catch (error) {
      if (!(error instanceof DamagedBackupError)) throw error;
      onDamage(error);
    }
  }

  async *#readList(key: string, sha256?: string): AsyncGenerator<ListedObject, void> {
    for await (const line of readLines(this.store, key, sha256)) {
      const { success, data } = listedObject.safeParse(JSON.parse(line));
      if (!success) throw new DamagedBackupError(key);
      yield data;
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

  async #text(key: string): Promise<string> {
    const { body } = await this.store.get(key);
    return (await buffer(body)).toString('utf8');
  }

  async #write(key: string, text: string): Promise<void> {
    await this.store.put(key, Buffer.from(text), 'application/json');
  }
}
