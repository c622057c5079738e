import { hostname } from 'node:os';
import { createClient, unwrap } from '@framelane/client';
import { type Command, Option } from 'commander';
import { words } from '../arguments.ts';
import { CliError, UsageError } from '../cli-error.ts';
import { type ConnectionOptions, connectionOptions, profileName, readBaseUrl } from '../connection.ts';
import { explain } from '../explain.ts';
import type { Host } from '../host.ts';
import { jsonOption, Output } from '../output.ts';
import { type Profile, profilesPath, readProfiles, writeProfiles } from '../profiles/profile-store.ts';
import { readSecret } from '../terminal/read-secret.ts';
import { facts } from '../terminal/table.ts';
import { chooseGrant, type GrantOptions } from './chosen-grant.ts';
import { withConsoleSession } from './console-session.ts';
import { revokeKey } from './revoke-key.ts';
import { readSignInLink } from './sign-in-link.ts';

type Options = ConnectionOptions &
  GrantOptions & { json?: boolean; name?: string; url?: string; keyStdin?: boolean };

const LONGEST_NAME = 100;

/** `login`. */
export function addLoginCommand(program: Command, host: Host): void {
  const command = program
    .command('login')
    .description('sign in with a link of the console, or with an API key')
    .argument('[link]', 'the sign-in link; without it you are asked for it')
    .option('--workspace <id>', 'the workspace, if the link is for several')
    .addOption(new Option('--environment <kind>', 'the environment of the key').choices(['live', 'test']))
    .option('--permissions <list>', 'permissions of the key, separated by commas (default: yours)', words)
    .addOption(new Option('--read-only', 'a key that can change nothing').conflicts('permissions'))
    .option('--name <name>', 'the name of the key (default: "cli on" and the name of this machine)')
    .addOption(new Option('--key-stdin', 'store an existing API key, which is read from standard input'))
    .option('--url <url>', 'with --key-stdin: the installation')
    .addHelpText(
      'after',
      `
The API key that is created for this machine is stored in a file that only you can read. It is never shown.

Examples:
  framelane login 'https://video.example.com/console/#code=…'
  framelane login --read-only --profile readings
  framelane login --url https://video.example.com --workspace ws_… --key-stdin < key.txt`,
    );
  jsonOption(connectionOptions(command)).action(async (link: string | undefined, options: Options) => {
    const signedIn = options.keyStdin ? await withKey(options, host) : await withLink(link, options, host);
    const name = profileName(options.profile, host.env);
    await store(name, signedIn.profile, host);
    new Output(host, options).result(
      { profile: name, url: signedIn.profile.baseUrl, ...signedIn.account },
      (result) =>
        facts({
          'Signed in to': result.url,
          Workspace: `${result.workspace.name} (${result.workspace.id})`,
          Environment: result.environment,
          Permissions: result.permissions.join(', '),
          Profile: result.profile,
        }),
    );
  });
}

type SignedIn = {
  profile: Profile;
  account: { workspace: { id: string; name: string }; environment: string; permissions: readonly string[] };
};

/** Creates a key for this machine. */
async function withLink(given: string | undefined, options: Options, host: Host): Promise<SignedIn> {
  if (options.url !== undefined)
    throw new UsageError('--url is for --key-stdin. A link names its installation.');
  const link = readSignInLink(given ?? (await readSecret('Paste the sign-in link: ', host)));
  return withConsoleSession(link, host.signal, async ({ client, session }) => {
    const { workspace, environment, permissions } = chooseGrant(session, options);
    const name = options.name ?? `cli on ${hostname()}`.slice(0, LONGEST_NAME);
    const { id, secret } = await unwrap(
      client.POST('/api-keys', {
        body: { name, environment, permissions },
        headers: { 'X-Svc-Workspace': workspace.id, 'X-Framelane-Environment': environment },
      }),
    );
    if (secret === undefined)
      throw new CliError('The response with the key was lost. Get a new link, and try again.');
    const profile = { baseUrl: link.baseUrl, workspaceId: workspace.id, apiKey: secret, apiKeyId: id };
    return { profile, account: { workspace, environment, permissions } };
  });
}

/** Checks an existing key. */
async function withKey(options: Options, host: Host): Promise<SignedIn> {
  const { url, workspace: workspaceId } = options;
  if (url === undefined || workspaceId === undefined)
    throw new UsageError('With --key-stdin, also give --url and --workspace.');
  const profile = { baseUrl: readBaseUrl(url), workspaceId, apiKey: await readSecret('API key: ', host) };
  const { workspace, environment, permissions } = await createClient(profile).account.whoami();
  return { profile, account: { workspace, environment, permissions } };
}

/** Stores a profile. The key that an earlier sign-in created for it is of no use any more. */
async function store(name: string, profile: Profile, host: Host): Promise<void> {
  const path = profilesPath(host.env);
  const profiles = await readProfiles(path);
  const former = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  await writeProfiles(path, { ...profiles, [name]: profile });
  if (former?.apiKeyId === undefined || former.apiKeyId === profile.apiKeyId) return;
  try {
    await revokeKey(former, host.signal);
  } catch (error) {
    host.writeError(
      `The former key of this profile, ${former.apiKeyId}, is still valid. ${explain(error)}\n`,
    );
  }
}
