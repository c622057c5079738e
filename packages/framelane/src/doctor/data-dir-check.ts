import { access, constants, stat } from 'node:fs/promises';
import type { SingleNodeSettings } from '@framelane/single-node/settings';
import { dataDirFinding } from './data-dir-finding.ts';
import type { Finding } from './finding.ts';

/**
 * Reads the owners and modes of the data directory and its secrets. `existing` is the data directory, or the directory in which it will
 * be.
 */
export async function checkDataDir(
  { dataDir }: Pick<SingleNodeSettings, 'dataDir'>,
  existing: string,
): Promise<Finding> {
  const secrets = [dataDir.secrets, dataDir.apiKey, dataDir.consoleLink];
  const found = await Promise.all(secrets.map(async (path) => [path, await ownerOf(path)] as const));
  return dataDirFinding({
    path: dataDir.root,
    uid: process.getuid?.() ?? 0,
    root: await ownerOf(dataDir.root),
    refusal: await refusalOf(existing),
    secrets: Object.fromEntries(found.flatMap(([path, owner]) => (owner ? [[path, owner]] : []))),
  });
}

/** Why this process cannot create files in a directory, such as a read-only file system; undefined if it can. */
async function refusalOf(directory: string): Promise<string | undefined> {
  return access(directory, constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

/** Undefined if there is no such file, or this process cannot reach it; then `refusalOf` or the owner of the directory says why. */
async function ownerOf(path: string): Promise<{ uid: number; mode: number } | undefined> {
  return stat(path).catch(() => undefined);
}
