import type { Readable } from 'node:stream';
import type { ByteRange } from '@framelane/object-store/object-store';

/** A stored file that never changes; `open` reads its bytes. */
export type StoredFile = {
  bytes: number;
  /** Strong entity tag, with its quotes. */
  etag: string;
  open(range?: ByteRange): Promise<Readable>;
  /** Signs a URL of the object store, valid for `PRESIGNED_SECONDS`; undefined when the control plane sends the file itself. */
  presign: (() => Promise<string>) | undefined;
};

/** How long a presigned URL is valid. */
export const PRESIGNED_SECONDS = 3600;
