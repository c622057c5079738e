import { ApiError } from '@framelane/client';
import type { Command } from 'commander';
import { CliError } from '../cli-error.ts';
import { type ConnectionOptions, connectionOptions, profileName } from '../connection.ts';
import type { Host } from '../host.ts';
import { jsonOption, Output } from '../output.ts';
import { profilesPath, readProfiles, writeProfiles } from '../profiles/profile-store.ts';
import { revokeKey } from './revoke-key.ts';

type Options = ConnectionOptions & { json?: boolean; local?: boolean };

/** `logout`. */
export function addLogoutCommand(program: Command, host: Host): void {
  const command = program
    .command('logout')
    .description('revoke the API key of this machine, and forget it')
    .option('--local', 'only forget it, for example because the installation does not exist any more');
  jsonOption(connectionOptions(command)).action(async (options: Options) => {
    const path = profilesPath(host.env);
    const name = profileName(options.profile, host.env);
    const { [name]: profile, ...others } = await readProfiles(path);
    // A name such as "constructor" is one of every object.
    if (profile?.apiKey === undefined) throw new CliError(`You are not signed in as profile "${name}".`);
    const output = new Output(host, options);
    const revoked = options.local ? false : await tryToRevoke(profile, host, output);
    await writeProfiles(path, others);
    output.result({ profile: name, revoked }, () => `Signed out of ${profile.baseUrl}.\n`);
  });
}

/** Whether the key is not valid any more. A key that may not revoke itself stays valid. */
async function tryToRevoke(
  profile: Parameters<typeof revokeKey>[0],
  { signal }: Host,
  output: Output,
): Promise<boolean> {
  // Somebody else uses a key that login has not created.
  if (profile.apiKeyId === undefined) return false;
  try {
    await revokeKey(profile, signal);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError) || ![403, 409].includes(error.status)) throw error;
    output.note(
      `The key ${profile.apiKeyId} stays valid, because it may not revoke itself. Revoke it in the console: Keys.`,
    );
    return false;
  }
}
