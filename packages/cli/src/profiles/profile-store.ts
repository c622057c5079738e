import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from '../cli-error.ts';
import type { Host } from '../host.ts';

/** A stored connection to one workspace of one installation. */
export type Profile = {
  /** URL of the API, e.g. `https://video.example.com/v1`. */
  baseUrl: string;
  workspaceId: string;
  apiKey: string;
  /** The key's id, if `login` created it: `logout` revokes it. */
  apiKeyId?: string;
};

export type Profiles = Readonly<Record<string, Profile>>;

/** The profile that is used if none is named. */
export const DEFAULT_PROFILE = 'default';

/** The file of all profiles, by the XDG Base Directory Specification. */
export function profilesPath(env: Host['env']): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config'), 'framelane', 'config.json');
}

/** All profiles; none if the file does not exist. */
export async function readProfiles(path: string): Promise<Profiles> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    return readableProfiles(JSON.parse(text));
  } catch {
    throw new CliError(`${path} is damaged. Delete it, and sign in again with "framelane login".`);
  }
}

/** Replaces the file. Only the user can read it. */
export async function writeProfiles(path: string, profiles: Profiles): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  await writeFile(next, `${JSON.stringify({ profiles }, null, 2)}\n`, { mode: 0o600 });
  // A file that was there has kept its mode.
  await chmod(next, 0o600);
  await rename(next, path);
}

function readableProfiles(content: unknown): Profiles {
  const { profiles } = content as { profiles: Profiles };
  for (const profile of Object.values(profiles))
    for (const field of ['baseUrl', 'workspaceId', 'apiKey'] as const)
      if (typeof profile[field] !== 'string') throw new TypeError(field);
  return profiles;
}
