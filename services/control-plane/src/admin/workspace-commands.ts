import { terminalText } from '@framelane/service-kit/terminal-text';
import type { Command } from 'commander';
import { parseName } from './arguments.ts';
import { type CommandAction, textTable } from './command.ts';

type Options = { json?: boolean };

/** `workspace create` and `workspace list`. */
export function addWorkspaceCommands(program: Command, action: CommandAction): void {
  const workspace = program.command('workspace').description('create and list workspaces');

  workspace
    .command('create')
    .description('create a workspace, without a key')
    .requiredOption('--name <name>', 'the name of the workspace (required)', parseName)
    .option('--json', 'print JSON')
    .action(
      action(
        ({ workspaces }, options: Options & { name: string }) => workspaces.create(options.name),
        ({ id, name }) => `Created the workspace ${terminalText(name)}: ${id}\n`,
      ),
    );

  workspace
    .command('list')
    .description('list all workspaces, the oldest first')
    .option('--json', 'print JSON')
    .action(
      action(
        ({ workspaces }) => workspaces.list(),
        (all) =>
          textTable(
            ['ID', 'NAME', 'CREATED'],
            all.map(({ id, name, createdAt }) => [id, name, createdAt]),
          ),
      ),
    );
}
