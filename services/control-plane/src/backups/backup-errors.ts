/** The administrator has to do something before a backup or a restore can be made. The message says what. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** A file of the backup is missing or cannot be read, or is not as it was written. */
export class DamagedBackupError extends Error {
  override name = 'DamagedBackupError';
  constructor(key: string, cause?: unknown) {
    super(`${key} is damaged.`, { cause });
  }
}

/** A backup has a format that this version does not know. */
export class UnknownFormatError extends Error {
  override name = 'UnknownFormatError';
  constructor(id: string, version: number) {
    super(
      `The backup ${id} was made by a newer Framelane: it has the format ${version}. Use that version or a later one, or another backup: "backup list" shows all.`,
    );
  }
}
