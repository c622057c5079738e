import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import type { Host } from './host.ts';
import {
  DEFAULT_PROFILE,
  type Profile,
  type Profiles,
  profilesPath,
  readProfiles,
} from './profiles/profile-store.ts';

export type ConnectionOptions = { profile?: string | undefined };

/** Where a command sends its requests, and as whom. */
export type Connection = Pick<Profile, 'baseUrl' | 'workspaceId' | 'apiKey'>;

/** Adds `--profile`. A key is never an argument, because other users of the machine can see arguments. */
export function connectionOptions(command: Command): Command {
  return command.option(
    '--profile <name>',
    'the stored sign-in to use (default: FRAMELANE_PROFILE, or "default")',
  );
}

/** Finds the connection of a command; throws a CliError that says how to set one. */
export async function findConnection({ profile }: ConnectionOptions, { env }: Host): Promise<Connection> {
  return chooseConnection(profile, env, await readProfiles(profilesPath(env)));
}

/**
 * `--profile` first, then the variables of the environment, then the stored profile. The parts of two sources are never mixed: a key
 * would go to a server that it is not for.
 */
export function chooseConnection(
  named: string | undefined,
  env: Host['env'],
  profiles: Profiles,
): Connection {
  if (named === undefined && env.FRAMELANE_API_KEY) return fromEnvironment(env);
  const name = profileName(named, env);
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile !== undefined) return profile;
  const login = name === DEFAULT_PROFILE ? 'framelane login' : `framelane login --profile ${name}`;
  throw new CliError(
    `You are not signed in${name === DEFAULT_PROFILE ? '' : ` as profile "${name}"`}. Run "${login}", or set ` +
      'FRAMELANE_BASE_URL, FRAMELANE_API_KEY and FRAMELANE_WORKSPACE_ID.',
  );
}

/** The name of the profile that a command uses. */
export function profileName(named: string | undefined, env: Host['env']): string {
  return named ?? (env.FRAMELANE_PROFILE || DEFAULT_PROFILE);
}

function fromEnvironment(env: Host['env']): Connection {
  const { FRAMELANE_BASE_URL, FRAMELANE_API_KEY = '', FRAMELANE_WORKSPACE_ID } = env;
  if (!FRAMELANE_BASE_URL || !FRAMELANE_WORKSPACE_ID)
    throw new CliError(
      'FRAMELANE_API_KEY is set. Set FRAMELANE_BASE_URL, such as http://localhost:8080/v1, and FRAMELANE_WORKSPACE_ID, too.',
    );
  return {
    baseUrl: readBaseUrl(FRAMELANE_BASE_URL),
    apiKey: FRAMELANE_API_KEY,
    workspaceId: FRAMELANE_WORKSPACE_ID,
  };
}

/** The URL of the API from that of the installation or of the API. Throws a CliError if it is no http URL. */
export function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new CliError(
      `"${text}" is not a URL of an installation. Use one such as https://video.example.com.`,
    );
  const path = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname;
  return `${url.origin}${path.endsWith('/v1') ? path : `${path}/v1`}`;
}
