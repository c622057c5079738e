import { terminalText } from '@framelane/service-kit/terminal-text';
import { Option } from 'commander';
import type { ApiKeysService } from '../api-keys/api-keys.service.ts';
import { PERMISSIONS } from '../api-keys/permissions.ts';
import type { ConsoleSessionsService } from '../console-sessions/console-sessions.service.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import type { WorkspacesService } from '../workspaces/workspaces.service.ts';
import { parsePermissions } from './arguments.ts';

/** The services that commands use. */
export type AdminServices = {
  workspaces: WorkspacesService;
  keys: ApiKeysService;
  quotas: QuotasService;
  /** Throws a SettingsError if the public address is not configured. */
  consoleSessions: () => ConsoleSessionsService;
};

/** Runs the work of a command and prints the result: described as text, or as JSON. */
export type RunCommand = <T>(
  options: { json?: boolean },
  work: (services: AdminServices) => Promise<T>,
  describe: (result: T) => string,
) => Promise<void>;

/** An error the administrator can correct; the message says how. */
export class AdminError extends Error {
  override name = 'AdminError';
}

/** The option of commands for one workspace. */
export const WORKSPACE_OPTION = ['--workspace <id>', 'the workspace (default: the only one)'] as const;

/** The option of commands that grant permissions. */
export const PERMISSIONS_OPTION = [
  '--permissions <list>',
  `one or more of ${PERMISSIONS.join(',')} (default: all)`,
  parsePermissions,
] as const;

/** The option of commands for one environment. */
export function environmentOption(description: string): Option {
  return new Option('--environment <kind>', description).choices(['live', 'test']).default('live');
}

/** The id of the given workspace, or of the only one. */
export async function chosenWorkspace(
  workspaces: WorkspacesService,
  given: string | undefined,
): Promise<string> {
  const all = await workspaces.list();
  const [first] = all;
  if (given !== undefined) {
    if (all.some(({ id }) => id === given)) return given;
    throw new AdminError(`There is no workspace ${given}. "workspace list" shows them all.`);
  }
  if (first === undefined)
    throw new AdminError('There is no workspace yet. Create one: workspace create --name …');
  if (all.length > 1) {
    throw new AdminError(
      'There are several workspaces. Choose one with --workspace; "workspace list" shows them.',
    );
  }
  return first.id;
}

/** A table with aligned columns. Cells are escaped for the terminal. */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map(terminalText))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
