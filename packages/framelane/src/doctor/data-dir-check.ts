import { stat } from 'node:fs/promises';
import type { SingleNodeSettings } from '@framelane/single-node/settings';
import { dataDirFinding } from './data-dir-finding.ts';
import type { Finding } from './finding.ts';

/** Reads the owners and modes of the data directory and its secrets. */
export async function checkDataDir({ dataDir }: Pick<SingleNodeSettings, 'dataDir'>): Promise<Finding> {
  const secrets = [dataDir.secrets, dataDir.apiKey, dataDir.consoleLink];
  const found = await Promise.all(secrets.map(async (path) => [path, await ownerOf(path)] as const));
  return dataDirFinding({
    path: dataDir.root,
    uid: process.getuid?.() ?? 0,
    root: await ownerOf(dataDir.root),
    secrets: Object.fromEntries(found.flatMap(([path, owner]) => (owner ? [[path, owner]] : []))),
  });
}

/** Undefined if there is no such file. */
async function ownerOf(path: string): Promise<{ uid: number; mode: number } | undefined> {
  return stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}
