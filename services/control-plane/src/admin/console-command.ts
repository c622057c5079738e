import type { Command } from 'commander';
import { PERMISSIONS } from '../api-keys/permissions.ts';
import type { Environment, Permission } from '../db/schema.ts';
import { parseName } from './arguments.ts';
import {
  chosenWorkspace,
  environmentOption,
  PERMISSIONS_OPTION,
  type RunCommand,
  WORKSPACE_OPTION,
} from './command.ts';

type Options = {
  json?: boolean;
  workspace?: string;
  name: string;
  environment: Environment;
  permissions?: Permission[];
};

type Created = { workspaceId: string; url: string; permissions: readonly Permission[]; expiresAt: string };

/** `console-link`. */
export function addConsoleCommand(program: Command, run: RunCommand): void {
  program
    .command('console-link')
    .description('print a link that signs one person in to the console; it is valid for 10 minutes')
    .option(...WORKSPACE_OPTION)
    .option('--name <name>', 'who the link is for, as in the list of sessions', parseName, 'Admin command')
    .addOption(environmentOption('environment of what the person creates'))
    .option(...PERMISSIONS_OPTION)
    .option('--json', 'print JSON')
    .action((options: Options) =>
      run(
        options,
        async ({ workspaces, consoleSessions }) => {
          const workspaceId = await chosenWorkspace(workspaces, options.workspace);
          const { name, environment, permissions = PERMISSIONS } = options;
          const request = { workspaceId, name, environment, permissions };
          const { url, expiresAt } = await consoleSessions().createLink(request);
          return { ...request, url, expiresAt: expiresAt.toISOString() };
        },
        describe,
      ),
    );
}

function describe({ url, workspaceId, permissions, expiresAt }: Created): string {
  return `
  Sign-in link  ${url}   (for one sign-in)
  Workspace     ${workspaceId}
  Permissions   ${permissions.join(', ')}
  Expires       ${expiresAt}

`;
}
