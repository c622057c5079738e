import { z } from 'zod';
import { DamagedBackupError, UnknownFormatError } from './backup-errors.ts';

/** The format that this version writes. It reads no other. */
const VERSION = 1;

const hashed = { sha256: z.string() };

const anyVersion = z.object({ format: z.literal('framelane-backup'), version: z.int() });

/** What a complete backup consists of. It is written last. */
const manifestSchema = anyVersion.extend({
  startedAt: z.iso.datetime(),
  /** The time of the database, whose rows the backup has. */
  snapshotAt: z.iso.datetime(),
  completedAt: z.iso.datetime(),
  /** The names of the migrations of the schema, in order. */
  migrations: z.array(z.string()).min(1),
  tables: z.array(
    z.object({ name: z.string().regex(/^\w+$/), columns: z.array(z.string()), rows: z.int(), ...hashed }),
  ),
  objects: z.object({
    count: z.int(),
    bytes: z.int(),
    /** Objects that the rows name, but the object store did not have. */
    missing: z.int(),
    lists: z.array(z.object({ name: z.string().regex(/^objects\/\d+\.gz$/), ...hashed })),
  }),
  /** The file of the sealed secrets. */
  secrets: z.object(hashed),
});
export type Manifest = Omit<z.infer<typeof manifestSchema>, 'format' | 'version'>;

/** Writes the manifest of a backup. */
export function writeManifest(manifest: Manifest): string {
  return JSON.stringify({ format: 'framelane-backup', version: VERSION, ...manifest }, null, 2);
}

/** Reads the manifest of the backup `id`. Throws an UnknownFormatError, or a DamagedBackupError for the file `key`. */
export function readManifest(text: string, id: string, key: string): Manifest {
  const json = parsed(text, key);
  const head = anyVersion.safeParse(json);
  if (head.success && head.data.version > VERSION) throw new UnknownFormatError(id, head.data.version);
  const { success, data, error } = manifestSchema.safeParse(json);
  if (!success || data.version !== VERSION) throw new DamagedBackupError(key, error);
  return data;
}

function parsed(text: string, key: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DamagedBackupError(key, error);
  }
}
