import { terminalText } from '@framelane/service-kit/terminal-text';
import type { Command } from 'commander';
import { PERMISSIONS } from '../api-keys/permissions.ts';
import type { Environment, Permission } from '../db/schema.ts';
import { parseEmail } from './arguments.ts';
import {
  ADMINISTRATOR_OPTION,
  AdminError,
  type CommandAction,
  chosenWorkspaces,
  environmentsOption,
  PERMISSIONS_OPTION,
  textTable,
  WORKSPACES_OPTION,
} from './command.ts';

type Options = { json?: boolean };

type AddOptions = Options & {
  email: string;
  workspace?: string[];
  environment: [Environment, ...Environment[]];
  permissions?: Permission[];
  administrator?: boolean;
};

type RemoveOptions = Options & { email: string; workspace?: string[] };

const EMAIL_OPTION = ['--email <address>', 'the verified email address at the provider (required)'] as const;

/** `console-person add`, `console-person list` and `console-person remove`. */
export function addPersonCommands(program: Command, action: CommandAction): void {
  const person = program
    .command('console-person')
    .description('manage who may sign in to the console by OpenID Connect');

  person
    .command('add')
    .description('add a person, or change what they may do in these workspaces; they have to sign in again')
    .requiredOption(...EMAIL_OPTION, parseEmail)
    .option(...WORKSPACES_OPTION)
    .addOption(environmentsOption())
    .option(...PERMISSIONS_OPTION)
    .option(...ADMINISTRATOR_OPTION)
    .option('--json', 'print JSON')
    .action(
      action(
        async ({ workspaces, people }, options: AddOptions) => {
          const workspaceIds = await chosenWorkspaces(workspaces, options.workspace ?? []);
          const {
            email,
            environment: environments,
            permissions = PERMISSIONS,
            administrator = false,
          } = options;
          const grants = workspaceIds.map((workspaceId) => ({ workspaceId, environments, permissions }));
          await people.add({ email, administrator }, grants);
          return { email, workspaceIds, environments, permissions, administrator };
        },
        ({ email, workspaceIds, environments, permissions, administrator }) => `
  Email         ${terminalText(email)}
  Workspaces    ${workspaceIds.join(', ')}
  Environments  ${environments.join(', ')}
  Permissions   ${permissions.join(', ')}${administrator ? ', administrator' : ''}

`,
      ),
    );

  person
    .command('list')
    .description('list all people by email, with a line for each workspace')
    .option('--json', 'print JSON')
    .action(
      action(
        ({ people }) => people.list(),
        (all) =>
          textTable(
            ['EMAIL', 'WORKSPACE', 'ENVIRONMENTS', 'ADMINISTRATOR', 'ADDED', 'PERMISSIONS'],
            all.map(({ email, workspaceId, environments, administrator, addedAt, permissions }) => [
              email,
              workspaceId,
              environments.join(','),
              administrator ? 'yes' : 'no',
              addedAt,
              permissions.length === PERMISSIONS.length ? 'all' : permissions.join(','),
            ]),
          ),
      ),
    );

  person
    .command('remove')
    .description('remove a person, and end their sessions at once')
    .requiredOption(...EMAIL_OPTION, parseEmail)
    .option('--workspace <id...>', 'only from these workspaces (default: from all)')
    .option('--json', 'print JSON')
    .action(
      action(
        async ({ people }, options: RemoveOptions) => {
          const { email, workspace } = options;
          const workspaceIds = await people.remove(email, workspace);
          if (workspaceIds.length > 0) return { email, workspaceIds };
          throw new AdminError(
            `There is no person ${terminalText(email)}${workspace ? ' in these workspaces' : ''}. "console-person list" shows them all.`,
          );
        },
        ({ email, workspaceIds }) => `Removed ${terminalText(email)} from ${workspaceIds.join(', ')}\n`,
      ),
    );
}
