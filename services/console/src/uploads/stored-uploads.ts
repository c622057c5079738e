/** An upload that has started. It is stored until its file has arrived, so that it continues after a reload of the page. */
export type StoredUpload = {
  videoId: string;
  uploadUrl: string;
  tusUrl: string;
  /** A secret. It lets its holder send the file of this video until the ticket expires, and nothing else. */
  uploadToken: string;
  name: string;
  size: number;
  /** `lastModified` of the file. */
  modified: number;
  /** Bytes that have arrived, as far as the page knew. */
  sent: number;
};

const PREFIX = 'framelane upload ';

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

/** The uploads of a workspace and environment, each in an entry of its own, because several tabs change them. */
export class StoredUploads {
  readonly #store: Store;
  readonly #prefix: string;

  constructor(store: Store, { workspaceId, environment }: { workspaceId: string; environment: string }) {
    this.#store = store;
    this.#prefix = `${PREFIX}${workspaceId} ${environment} `;
  }

  /** If the store is full, nothing is stored: the upload works, but cannot continue after a reload. */
  add(upload: StoredUpload): void {
    try {
      this.#store.setItem(this.#prefix + upload.videoId, JSON.stringify(upload));
    } catch {}
  }

  get(videoId: string): StoredUpload | undefined {
    return read(this.#store.getItem(this.#prefix + videoId));
  }

  all(): StoredUpload[] {
    return keysOf(this.#store, this.#prefix).flatMap((key) => read(this.#store.getItem(key)) ?? []);
  }

  /** Does nothing if it is not stored: another tab may have signed out. */
  progress(videoId: string, sent: number): void {
    const upload = this.get(videoId);
    if (upload !== undefined) this.add({ ...upload, sent });
  }

  remove(videoId: string): void {
    this.#store.removeItem(this.#prefix + videoId);
  }
}

/** Removes the uploads of all workspaces. */
export function forgetUploads(store: Store): void {
  for (const key of keysOf(store, PREFIX)) store.removeItem(key);
}

/** Whether this is the file of an upload. Its content is not compared. */
export function isFileOf(
  { name, size, modified }: Pick<StoredUpload, 'name' | 'size' | 'modified'>,
  file: Pick<File, 'name' | 'size' | 'lastModified'>,
): boolean {
  return name === file.name && size === file.size && modified === file.lastModified;
}

function keysOf(store: Store, prefix: string): string[] {
  return Array.from({ length: store.length }, (_, index) => store.key(index)).filter(
    (key): key is string => key?.startsWith(prefix) ?? false,
  );
}

function read(text: string | null): StoredUpload | undefined {
  return text === null ? undefined : JSON.parse(text);
}
