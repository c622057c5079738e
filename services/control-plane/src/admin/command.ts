import { terminalText } from '@framelane/service-kit/terminal-text';
import { type Command, Option } from 'commander';
import type { ApiKeysService } from '../api-keys/api-keys.service.ts';
import { PERMISSIONS } from '../api-keys/permissions.ts';
import type { ConsolePeopleService } from '../console-people/console-people.service.ts';
import type { ConsoleSessionsService } from '../console-sessions/console-sessions.service.ts';
import { ENVIRONMENTS } from '../db/environments.ts';
import type { QuotasService } from '../quotas/quotas.service.ts';
import type { WorkspacesService } from '../workspaces/workspaces.service.ts';
import { parsePermissions } from './arguments.ts';

/** The services that commands use. */
export type AdminServices = {
  workspaces: WorkspacesService;
  keys: ApiKeysService;
  quotas: QuotasService;
  people: ConsolePeopleService;
  /** Throws a SettingsError if the public address is not configured. */
  consoleSessions: () => ConsoleSessionsService;
};

/** The action of a command: does its work and prints the result as text or as JSON. */
export type CommandAction = <T, Options extends { json?: boolean }>(
  work: (services: AdminServices, options: Options) => Promise<T>,
  describe: (result: T) => string,
) => (options: Options, command: Command) => Promise<void>;

/** Prints the result of a command as text or as JSON. The exit code is 1 if the result is a failure. */
export type PrintResult = <T>(
  result: T,
  options: { json?: boolean },
  describe: (result: T) => string,
  isFailure?: (result: T) => boolean,
) => void;

/** An error the administrator can correct; the message says how. */
export class AdminError extends Error {
  override name = 'AdminError';
}

/** The option of commands for one workspace. */
export const WORKSPACE_OPTION = ['--workspace <id>', 'the workspace (default: the only one)'] as const;

/** The option of commands for several workspaces. */
export const WORKSPACES_OPTION = [
  '--workspace <id...>',
  'one or more workspaces (default: the only one)',
] as const;

/** The option of commands that grant permissions. */
export const PERMISSIONS_OPTION = [
  '--permissions <list>',
  `one or more of ${PERMISSIONS.join(',')} (default: all)`,
  parsePermissions,
] as const;

/** The option of commands that let a person into the console. */
export function environmentsOption(): Option {
  return new Option('--environment <kind...>', 'environments of created resources, the default first')
    .choices(ENVIRONMENTS)
    .default(ENVIRONMENTS, 'both');
}

/** The option that makes the person an administrator. */
export const ADMINISTRATOR_OPTION = [
  '--administrator',
  'the person may also see the state of the whole installation',
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
  const [chosen] = await chosenWorkspaces(workspaces, given === undefined ? [] : [given]);
  return chosen;
}

/** The ids of the given workspaces, or of the only one. */
export async function chosenWorkspaces(
  workspaces: WorkspacesService,
  given: readonly string[],
): Promise<[string, ...string[]]> {
  const all = await allWorkspaces(workspaces);
  const unknown = given.find((each) => !all.includes(each));
  if (unknown !== undefined) {
    throw new AdminError(`There is no workspace ${unknown}. "workspace list" shows them all.`);
  }
  const [chosen, ...others] = new Set(given);
  if (chosen !== undefined) return [chosen, ...others];
  if (all.length > 1) {
    throw new AdminError(
      'There are several workspaces. Choose one with --workspace; "workspace list" shows them.',
    );
  }
  return all;
}

/** The ids of all workspaces. */
export async function allWorkspaces(workspaces: WorkspacesService): Promise<[string, ...string[]]> {
  const [first, ...others] = (await workspaces.list()).map(({ id }) => id);
  if (first === undefined)
    throw new AdminError('There is no workspace yet. Create one: workspace create --name …');
  return [first, ...others];
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
