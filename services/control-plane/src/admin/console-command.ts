import type { Command } from 'commander';
import { PERMISSIONS } from '../api-keys/permissions.ts';
import type { Environment, Permission } from '../db/schema.ts';
import { parseName } from './arguments.ts';
import {
  ADMINISTRATOR_OPTION,
  allWorkspaces,
  type CommandAction,
  chosenWorkspaces,
  environmentsOption,
  PERMISSIONS_OPTION,
} from './command.ts';

type Options = {
  json?: boolean;
  workspace?: string[];
  name: string;
  environment: [Environment, ...Environment[]];
  permissions?: Permission[];
  administrator?: boolean;
};

type Created = {
  workspaceIds: readonly string[];
  environments: readonly Environment[];
  permissions: readonly Permission[];
  administrator: boolean;
  url: string;
  expiresAt: string;
};

/** `console-link`. */
export function addConsoleCommand(program: Command, action: CommandAction): void {
  program
    .command('console-link')
    .description('print a link that signs one person in to the console; it is valid for 10 minutes')
    .option('--workspace <id...>', 'one or more workspaces (default: all)')
    .option(
      '--name <name>',
      'who the link is for; the list of sessions shows this name',
      parseName,
      'Admin command',
    )
    .addOption(environmentsOption())
    .option(...PERMISSIONS_OPTION)
    .option(...ADMINISTRATOR_OPTION)
    .option('--json', 'print JSON')
    .action(
      action(async ({ workspaces, consoleSessions }, options: Options) => {
        const workspaceIds =
          options.workspace === undefined
            ? await allWorkspaces(workspaces)
            : await chosenWorkspaces(workspaces, options.workspace);
        const { name, permissions = PERMISSIONS, administrator = false } = options;
        const environments = options.environment;
        const grants = workspaceIds.map((workspaceId) => ({ workspaceId, environments, permissions }));
        const { url, expiresAt } = await consoleSessions().createLink({ name, administrator, grants });
        const granted = { name, workspaceIds, environments, permissions, administrator };
        return { ...granted, url, expiresAt: expiresAt.toISOString() };
      }, describe),
    );
}

function describe({
  url,
  workspaceIds,
  environments,
  permissions,
  administrator,
  expiresAt,
}: Created): string {
  return `
  Sign-in link  ${url}   (for one sign-in)
  Workspaces    ${workspaceIds.join(', ')}
  Environments  ${environments.join(', ')}
  Permissions   ${permissions.join(', ')}${administrator ? ', administrator' : ''}
  Expires       ${expiresAt}

`;
}
