import type { Command } from 'commander';
import type { Host } from '../host.ts';
import { apiCommand } from '../run-command.ts';
import { facts } from '../terminal/table.ts';

/** `whoami`. */
export function addWhoamiCommand(program: Command, host: Host): void {
  const command = program.command('whoami').description('show the installation, the workspace and the key');
  apiCommand(command, host, async ({ connection: { baseUrl }, client, output }) => {
    const account = await client.account.whoami({ signal: host.signal });
    output.result({ url: baseUrl, ...account }, ({ url, workspace, apiKey, environment, permissions }) =>
      facts({
        Installation: url,
        Workspace: `${workspace.name} (${workspace.id})`,
        Key: apiKey && `${apiKey.name} (${apiKey.id}, ${apiKey.prefix}…${apiKey.last4})`,
        Expires: apiKey && (apiKey.expiresAt ?? 'never'),
        Environment: environment,
        Permissions: permissions.join(', '),
      }),
    );
  });
}
