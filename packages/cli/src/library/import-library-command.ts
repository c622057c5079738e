import { appendFile, writeFile } from 'node:fs/promises';
import type { Video } from '@framelane/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { collected } from '../arguments.ts';
import { CliError } from '../cli-error.ts';
import type { Host } from '../host.ts';
import { apiCommand, type Session } from '../run-command.ts';
import { sizeText } from '../terminal/amounts.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { importLibrary } from './import/import-library.ts';
import { describeReport, type ReportEntry } from './import/import-report.ts';
import type { LibrarySource, SourceContext, Transfer } from './library-item.ts';
import { apiVideoSource } from './sources/api-video.ts';
import { bunnySource } from './sources/bunny.ts';
import { cloudflareSource } from './sources/cloudflare.ts';
import { folderSource } from './sources/folder.ts';
import { muxSource } from './sources/mux.ts';
import { peertubeSource } from './sources/peertube.ts';
import { s3Source } from './sources/s3.ts';

type ImportFlags = {
  dryRun?: boolean;
  limit?: number;
  include?: string[];
  exclude?: string[];
  concurrency: number;
  transfer?: Transfer;
  workFolder: string;
  playbackPolicy?: Video['playbackPolicy'];
  wait?: boolean;
  report?: string;
};

/** Opens the source of a command from its arguments and options. */
type Open<Options, Arguments extends unknown[]> = (
  context: SourceContext,
  options: Options,
  ...args: Arguments
) => LibrarySource | Promise<LibrarySource>;

/** `import-library` with a command for each kind of library. */
export function addImportLibraryCommands(program: Command, host: Host): void {
  const parent = program
    .command('import-library')
    .description('import the videos of a folder, of S3 or of another service');
  const add = <Options extends object, Arguments extends unknown[] = []>(
    command: Command,
    open: Open<Options, Arguments>,
  ) =>
    apiCommand<ImportFlags & Options, Arguments>(
      withImportOptions(command),
      host,
      async (session, options, ...args) => {
        const source = await open(host, options, ...args);
        await runImport(source, options, session);
      },
    );

  add<object, [string]>(
    parent
      .command('folder')
      .argument('<folder>')
      .description('media files with sidecars, or what export has written'),
    (context, _, folder) => folderSource(context, folder),
  );
  add<{ endpoint?: string; region?: string }, [string]>(
    parent
      .command('s3')
      .argument('<location>', 's3://bucket/prefix')
      .description('media files with sidecars in a bucket')
      .option('--endpoint <url>', 'the server (default: that of AWS, or AWS_ENDPOINT_URL_S3)')
      .option('--region <name>', 'the region (default: that of the AWS command line)'),
    (context, { endpoint, region }, location) => s3Source(context, { location, endpoint, region }),
  );
  add(parent.command('mux').description('Mux; needs MUX_TOKEN_ID and MUX_TOKEN_SECRET'), (context) =>
    muxSource(context),
  );
  add<{ account: string }>(
    parent
      .command('cloudflare')
      .description('Cloudflare Stream; needs CLOUDFLARE_API_TOKEN')
      .requiredOption('--account <id>', 'the id of the account'),
    (context, { account }) => cloudflareSource(context, { account }),
  );
  add<{ library: string }>(
    parent
      .command('bunny')
      .description('Bunny Stream; needs BUNNY_API_KEY')
      .requiredOption('--library <id>', 'the id of the video library'),
    (context, { library }) => bunnySource(context, { library }),
  );
  add<{ apiUrl?: string }>(
    parent
      .command('api-video')
      .description('api.video; needs API_VIDEO_API_KEY')
      .option('--api-url <url>', 'the URL of the API, such as that of the sandbox'),
    (context, { apiUrl }) =>
      apiVideoSource(context, apiUrl === undefined ? {} : { baseUrl: readUrl(apiUrl) }),
  );
  add<{ account?: string; channel?: string }, [string]>(
    parent
      .command('peertube')
      .argument('<url>', 'the instance, such as https://peertube.example.com')
      .description('PeerTube; PEERTUBE_TOKEN for your own videos')
      .option('--account <name>', 'the videos of this account')
      .addOption(new Option('--channel <name>', 'the videos of this channel').conflicts('account')),
    (context, { account, channel }, url) => peertubeSource(context, { url, account, channel }),
  );
}

function withImportOptions(command: Command): Command {
  return command
    .option('--dry-run', 'only list what would be imported')
    .option('--limit <number>', 'import at most this many videos', wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option('--include <pattern>', 'import only names like this, such as "2024/*"; repeatable', collected)
    .option('--exclude <pattern>', 'leave out names like this; repeatable', collected)
    .option('--concurrency <number>', 'videos at the same time', wholeNumber(1, 32), 4)
    .addOption(
      new Option(
        '--transfer <how>',
        'url: engines fetch the files; upload: this machine fetches and sends them (default: depends on the source)',
      ).choices(['url', 'upload']),
    )
    .option('--work-folder <folder>', 'for files between download and upload', './framelane-import')
    .addOption(
      new Option(
        '--playback-policy <policy>',
        'of all new videos (default: what the source says, else public)',
      ).choices(['public', 'signed']),
    )
    .option('--wait', 'wait until the videos are ready')
    .option('--report <file>', 'write the report to this file, as JSON');
}

async function runImport(
  source: LibrarySource,
  flags: ImportFlags,
  { client, output, host }: Session,
): Promise<void> {
  const { signal } = host;
  const { workspace, permissions, environment } = await client.account.whoami({ signal });
  for (const permission of ['videos:read', 'videos:write'] as const)
    if (!permissions.includes(permission))
      throw new CliError(`The key has no permission ${permission}. Use one that has it.`);
  if (environment === 'test') output.note('The key is a test key: the videos are removed after a day.');
  // A report that cannot be written is noticed before the work.
  if (flags.report !== undefined) await appendFile(flags.report, '');
  const { include = [], exclude = [], concurrency, workFolder } = flags;
  const { report, stopped } = await importLibrary(
    source,
    {
      include,
      exclude,
      concurrency,
      dryRun: flags.dryRun ?? false,
      limit: flags.limit ?? Number.POSITIVE_INFINITY,
      workspaceId: workspace.id,
      environment,
      playbackPolicy: flags.playbackPolicy,
      onBegin: ({ name, size }) => output.note(`… ${terminalText(name)}${inBrackets(size)}`),
      onEntry: (entry) => output.note(lineOf(entry)),
    },
    {
      client,
      workFolder,
      transfer: flags.transfer ?? source.transfer,
      trustedHosts: source.trustedHosts,
      wait: flags.wait ?? false,
      signal,
    },
  );
  output.result(report, describeReport);
  if (flags.report !== undefined) await writeFile(flags.report, `${JSON.stringify(report, null, 2)}\n`);
  if (stopped !== undefined) throw stopped;
  if (report.counts.failed > 0)
    throw new CliError(
      'Some videos were not imported; the reasons are above. Run the command again to go on.',
    );
}

const SIGNS = { imported: '✓', planned: '+', skipped: '=', failed: '✗' } as const;

function lineOf({ outcome, name, bytes, reason }: ReportEntry): string {
  return `${SIGNS[outcome]} ${terminalText(name)}${inBrackets(bytes)}${reason === undefined ? '' : `: ${terminalText(reason)}`}`;
}

function inBrackets(bytes: number | null | undefined): string {
  return bytes == null ? '' : ` (${sizeText(bytes)})`;
}

/** Parses a whole number in a range. */
function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(
      max === Number.MAX_SAFE_INTEGER
        ? `Use a whole number from ${min}.`
        : `Use a whole number from ${min} to ${max}.`,
    );
  };
}

function readUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new CliError(`"${text}" is not a URL. Use one such as https://sandbox.api.video.`);
  return text.endsWith('/') ? text.slice(0, -1) : text;
}
