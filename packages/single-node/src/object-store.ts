import { FileObjectStore } from '@framelane/object-store/file-object-store';
import type { ObjectStore } from '@framelane/object-store/object-store';
import { S3ObjectStore } from '@framelane/object-store/s3-object-store';
import type { SingleNodeSettings } from './settings.ts';

/** The object store of a single node: S3 if it is set, otherwise files in the data directory. */
export function objectStoreOf({ s3, dataDir }: Pick<SingleNodeSettings, 's3' | 'dataDir'>): ObjectStore {
  return s3 === undefined ? new FileObjectStore(dataDir.objects) : new S3ObjectStore(s3);
}
