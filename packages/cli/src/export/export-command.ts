import { resolve } from 'node:path';
import type { FramelaneClient, Schemas, Video } from '@framelane/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { words } from '../arguments.ts';
import { CliError } from '../cli-error.ts';
import type { Host } from '../host.ts';
import { apiCommand, type Session } from '../run-command.ts';
import { sizeText } from '../terminal/amounts.ts';
import { table } from '../terminal/table.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { type ExportEntry, type ExportReport, exportLibrary, LIBRARY_FILE } from './export-library.ts';

const STATUSES = ['uploading', 'processing', 'ready', 'failed'] as const satisfies Video['status'][];
const RENDITIONS = ['highest', '1080p', '720p', '480p', '360p', 'audio'] as const;

type Query = NonNullable<Parameters<FramelaneClient['videos']['list']>[0]>;

type ExportFlags = {
  status: Video['status'][];
  tag?: string;
  search?: string;
  createdAfter?: string;
  createdBefore?: string;
  sources: boolean;
  renditions: Schemas['DownloadName'][];
  concurrency: string;
};

/** `export`. */
export function addExportCommand(program: Command, host: Host): void {
  const command = program
    .command('export')
    .argument('<folder>', 'where to write a folder for each video')
    .description('write videos to a folder, from which "import-library folder" reads them back')
    .addOption(
      new Option('--status <list>', 'videos in these states, separated by commas')
        .argParser(listOf(STATUSES))
        .default(['ready'], 'ready'),
    )
    .option('--tag <tag>', 'videos with this tag')
    .option('--search <text>', 'videos whose title contains the text')
    .option('--created-after <time>', 'videos created at this time or later, such as 2026-11-01T00:00:00Z')
    .option('--created-before <time>', 'videos created before this time')
    .addOption(
      new Option('--renditions <list>', `MP4 files to write: ${RENDITIONS.join(', ')}, or none`)
        .argParser((text: string) => (text === 'none' ? [] : listOf(RENDITIONS)(text)))
        .default(['highest'], 'highest'),
    )
    .option('--no-sources', 'without the uploaded files')
    .addOption(
      new Option('--concurrency <number>', 'videos at the same time')
        .choices(['1', '2', '4', '8'])
        .default('2'),
    );
  apiCommand<ExportFlags, [string]>(command, host, runExport);
}

async function runExport(
  { client, connection, output, host }: Session,
  flags: ExportFlags,
  folder: string,
): Promise<void> {
  const { sources, renditions, concurrency } = flags;
  const { permissions } = await client.account.whoami({ signal: host.signal });
  if ((sources || renditions.length > 0) && !permissions.includes('videos:write'))
    throw new CliError(
      'The key has no permission videos:write. Use one that has it, or add --no-sources --renditions none.',
    );
  const report = await exportLibrary(
    {
      folder: resolve(folder),
      query: queryOf(flags),
      concurrency: Number(concurrency),
      onEntry: (entry) => output.note(lineOf(entry)),
    },
    { client, connection, sources, renditions, signal: host.signal },
  );
  output.result(report, describeReport);
  if (report.failed > 0)
    throw new CliError(
      'Some videos were not exported; the reasons are above. Run the command again to go on.',
    );
}

function queryOf({ status, tag, search, createdAfter, createdBefore }: ExportFlags): Query {
  return {
    status: [...status],
    ...(tag !== undefined && { tag }),
    ...(search !== undefined && { q: search }),
    ...(createdAfter !== undefined && { createdAfter }),
    ...(createdBefore !== undefined && { createdBefore }),
  };
}

function lineOf({ title, bytes, warnings, error }: ExportEntry): string {
  if (error !== undefined) return `✗ ${terminalText(title)}: ${terminalText(error)}`;
  return [
    `✓ ${terminalText(title)} (${sizeText(bytes)})`,
    ...warnings.map((one) => `  ${terminalText(one)}`),
  ].join('\n');
}

function describeReport({ exported, failed, bytes }: ExportReport): string {
  const counts = table(['EXPORTED', 'FAILED', 'SIZE'], [[String(exported), String(failed), sizeText(bytes)]]);
  return `${counts}${LIBRARY_FILE} lists all videos in the folder.\n`;
}

/** Parses names that are separated by commas. */
function listOf<Name extends string>(allowed: readonly Name[]): (text: string) => Name[] {
  return (text) => {
    const names = [...new Set(words(text))];
    const known = names.filter((name): name is Name => allowed.some((one) => one === name));
    if (known.length === names.length) return known;
    throw new InvalidArgumentError(`Use ${allowed.join(', ')}, separated by commas.`);
  };
}
