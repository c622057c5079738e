import { terminalText } from '@framelane/service-kit/terminal-text';
import type { ApiKeysService } from '../api-keys/api-keys.service.ts';
import type { WorkspacesService } from '../workspaces/workspaces.service.ts';

/** The services that commands use. */
export type AdminServices = { workspaces: WorkspacesService; keys: ApiKeysService };

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

/** A table with aligned columns. Cells are escaped for the terminal. */
export function textTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows.map((row) => row.map(terminalText))];
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}
