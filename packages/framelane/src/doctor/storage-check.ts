import { access } from 'node:fs/promises';
import { headroomBytes } from '@framelane/engine/disk-space';
import { FileObjectStore } from '@framelane/object-store/file-object-store';
import { sourceKey } from '@framelane/object-store/object-keys';
import { objectStoreOf } from '@framelane/single-node/object-store';
import type { SingleNodeSettings } from '@framelane/single-node/settings';
import { type Finding, passed } from './finding.ts';
import { diskFinding } from './machine-findings.ts';

/** No workspace has this id. */
const PROBE = sourceKey('doctor', 'doctor', 'doctor');

/** Whether objects can be stored, and how many. `existing` is the data directory, or the directory in which it will be. Rejects if none can. */
export async function checkStorage(settings: SingleNodeSettings, existing: string): Promise<Finding[]> {
  const { s3, dataDir } = settings;
  if (s3 === undefined) {
    const { objects } = dataDir;
    const isThere = await access(objects).then(
      () => true,
      () => false,
    );
    if (isThere) await new FileObjectStore(objects).check();
    return [diskFinding(existing, await headroomBytes(new FileObjectStore(existing)))];
  }
  const store = objectStoreOf(settings);
  await store.check();
  await store.put(PROBE, new Uint8Array(1), 'application/octet-stream');
  await store.delete([PROBE]);
  return [passed('Storage', `the bucket ${s3.bucket} can be read and written`)];
}
