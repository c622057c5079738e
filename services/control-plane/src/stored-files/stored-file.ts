import type { ByteRange } from '@framelane/object-store/object-store';

/** A stored file. Its bytes do not change; its URL can lead to another file later, with another ETag. */
export type StoredFile = {
  bytes: number;
  /** Strong entity tag, with its quotes. */
  etag: string;
  /** Reads a range. What it has read counts as unsent until more is requested. */
  read(range: ByteRange): AsyncGenerator<Buffer, void>;
  /** Signs a URL of the object store, valid for `PRESIGNED_SECONDS`; undefined when the control plane sends the file itself. */
  presign: (() => Promise<string>) | undefined;
};

/** How long a presigned URL is valid. */
export const PRESIGNED_SECONDS = 3600;
