import type { ObjectStore } from '@framelane/object-store/object-store';

/** What all keys of objects begin with, in order. */
const ROOTS = ['hls/', 'sources/'];

/** All objects of an installation, in the order of their keys. */
export async function* allObjects(
  store: ObjectStore,
): AsyncGenerator<{ key: string; bytes: number; modifiedAt: Date }, void> {
  for (const root of ROOTS) yield* store.list(root);
}
