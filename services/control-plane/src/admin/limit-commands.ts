import type { Command } from 'commander';
import type { Limits, Quotas } from '../quotas/quotas.ts';
import { describeSize, type None, parseFileSize, parseLimit, parseSize } from './arguments.ts';
import { AdminError, type CommandAction, chosenWorkspace, textTable, WORKSPACE_OPTION } from './command.ts';

type Options = { json?: boolean; workspace?: string };
type SetOptions = Options & { [quota in keyof Quotas]?: number | None };

/** `limits set` and `limits show`. */
export function addLimitCommands(program: Command, action: CommandAction): void {
  const limits = program.command('limits').description('set and show the limits (quotas) of a workspace');

  limits
    .command('set')
    .description('set limits; the other limits do not change')
    .option(...WORKSPACE_OPTION)
    .option('--stored-bytes <size>', 'bytes of sources, segments and images, e.g. 1TB or 1TiB', parseSize)
    .option('--transcoded-minutes <number>', 'minutes of video per calendar month in UTC', parseLimit)
    .option('--videos <number>', 'videos in any state', parseLimit)
    .option('--uploads <number>', 'open upload tickets', parseLimit)
    .option('--file-bytes <size>', 'size of one file, e.g. 5GB', parseFileSize)
    .option('--json', 'print JSON')
    .addHelpText('after', '\n"none" removes a limit.')
    .action(
      action(async ({ workspaces, quotas }, options: SetOptions) => {
        const changes = changesOf(options);
        if (Object.keys(changes).length === 0) {
          throw new AdminError('Give a limit to set, e.g. --videos 1000. "limits set --help" lists them.');
        }
        const workspaceId = await chosenWorkspace(workspaces, options.workspace);
        return { workspaceId, limits: await quotas.set(workspaceId, changes) };
      }, describeLimits),
    );

  limits
    .command('show')
    .description('show the limits and the current usage')
    .option(...WORKSPACE_OPTION)
    .option('--json', 'print JSON')
    .action(
      action(async ({ workspaces, quotas }, options: Options) => {
        const workspaceId = await chosenWorkspace(workspaces, options.workspace);
        return { workspaceId, limits: await quotas.limits(workspaceId) };
      }, describeLimits),
    );
}

/** The given limits; null for those to remove. */
function changesOf({ json, workspace, ...given }: SetOptions): Partial<Quotas> {
  const changes = Object.entries(given).map(([quota, limit]) => [quota, limit === 'none' ? null : limit]);
  return Object.fromEntries(changes);
}

function describeLimits({ workspaceId, limits }: { workspaceId: string; limits: Limits }): string {
  const { storedBytes, transcodedMinutes, videos, uploads, fileBytes } = limits;
  const size = (bytes: number | null) => (bytes === null ? 'none' : describeSize(bytes));
  const count = (limit: number | null) => (limit === null ? 'none' : String(limit));
  return `Workspace ${workspaceId}\n\n${textTable(
    ['', 'LIMIT', 'USED', 'RESERVED'],
    [
      ['stored bytes', size(storedBytes.limit), size(storedBytes.used), size(storedBytes.reserved)],
      ['transcoded minutes', count(transcodedMinutes.limit), `${transcodedMinutes.used} this month`, '-'],
      ['videos', count(videos.limit), count(videos.used), '-'],
      ['open upload tickets', count(uploads.limit), count(uploads.used), '-'],
      ['file bytes', size(fileBytes.limit), '-', '-'],
    ],
  )}`;
}
