import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Video } from '@framelane/client';
import { type UploadSource, uploadVideo } from '@framelane/client/node';
import type { Command } from 'commander';
import { CliError, UsageError } from '../cli-error.ts';
import type { Connection } from '../connection.ts';
import { explain } from '../explain.ts';
import type { Host } from '../host.ts';
import { apiCommand, type Session } from '../run-command.ts';
import { durationText, sizeText } from '../terminal/amounts.ts';
import { ProgressLine } from '../terminal/progress-line.ts';
import { facts } from '../terminal/table.ts';
import { terminalText } from '../terminal/terminal-text.ts';
import { waitForVideo } from '../videos/wait-for-video.ts';
import { forgetOldTickets, StoredTicket, ticketName, ticketsDirectory } from './stored-ticket.ts';
import { type FieldOptions, fieldOptions, ticketFields } from './ticket-fields.ts';
import { TransferRate } from './transfer-rate.ts';

type Options = FieldOptions & { wait?: boolean };

/** `upload`. */
export function addUploadCommand(program: Command, host: Host): void {
  const command = fieldOptions(
    program
      .command('upload')
      .description('upload files; after an interruption the same command continues')
      .argument('<file...>', 'the files; - is standard input, which cannot be continued'),
  )
    .option('--filename <name>', 'the name of the file; standard input needs it')
    .option('--wait', 'wait until the videos can be played')
    .addHelpText(
      'after',
      `
Examples:
  framelane upload holiday.mp4 --wait
  framelane upload *.mov --tag holiday --metadata project=42 --codecs h264,av1
  ffmpeg … -f matroska - | framelane upload - --filename stream.mkv`,
    );
  apiCommand(command, host, async (session, options: Options, files: string[]) => {
    refuseForSeveral(files, options);
    await forgetOldTickets(ticketsDirectory(host.env));
    let failed = 0;
    for (const file of files) {
      try {
        await uploadOne(file, session, options);
      } catch (error) {
        if (host.signal.aborted || files.length === 1) throw error;
        failed += 1;
        session.output.data({ type: 'failed', file, message: explain(error) });
        session.output.note(`${terminalText(file)}: ${explain(error)}`);
      }
    }
    if (failed > 0) throw new CliError(`${failed} of ${files.length} files could not be uploaded.`);
  });
}

/** The options that describe one file. */
function refuseForSeveral(files: readonly string[], { title, filename, passthrough }: Options): void {
  if (files.includes('-') && filename === undefined)
    throw new UsageError('Standard input has no name. Add --filename, such as --filename stream.mkv.');
  if (files.length > 1 && (title ?? filename ?? passthrough) !== undefined)
    throw new UsageError(
      '--title, --filename and --passthrough are for one file. Upload the files one by one.',
    );
}

/** Uploads a file, waits if that is wanted, and prints its record. */
async function uploadOne(file: string, session: Session, options: Options): Promise<void> {
  const { client, output, host } = session;
  const id = await send(file, session, options);
  if (!options.wait) {
    const video = await client.videos.get(id, { signal: host.signal });
    output.event({ type: 'uploaded', file, video }, () => describe(video));
    return;
  }
  const video = await waitForVideo(id, session).catch((error: unknown) => {
    if (!host.signal.aborted) throw error;
    throw new CliError(`Interrupted. The file has arrived; "framelane videos watch ${id}" goes on waiting.`);
  });
  output.event({ type: 'ready', file, video }, () => describe(video));
}

/** Sends a file with its progress. Resolves with the id of its video. */
async function send(
  file: string,
  { connection, client, output, host }: Session,
  options: Options,
): Promise<string> {
  const fields = ticketFields(options);
  const { source, keptTicket } = await openSource(file, connection, fields, host);
  const name = fields.filename ?? basename(file);
  const line = new ProgressLine(host, output);
  const rate = new TransferRate();
  const begun = performance.now();
  try {
    const { videoId, size } = await uploadVideo(client, source, fields, {
      keptTicket,
      // So that every upload of a file can be continued.
      resumableAbove: 0,
      signal: host.signal,
      onProgress: ({ sent, total }) =>
        line.show(progressText(name, sent, total, rate.add(sent, performance.now())), { file, sent, total }),
    });
    line.clear();
    const seconds = (performance.now() - begun) / 1000;
    output.note(`${terminalText(name)}: uploaded, ${sizeText(size)} in ${durationText(seconds)}`);
    return videoId;
  } catch (error) {
    line.clear();
    if (!host.signal.aborted) throw error;
    throw new CliError(
      file === '-' ? 'Interrupted.' : 'Interrupted. The same command continues, while the ticket is valid.',
    );
  }
}

async function openSource(
  file: string,
  connection: Connection,
  fields: ReturnType<typeof ticketFields>,
  { stdin, env }: Host,
): Promise<{ source: UploadSource; keptTicket?: StoredTicket }> {
  if (file === '-') return { source: stdin };
  const path = await realpath(file).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      error.code === 'ENOENT' ? `There is no file ${file}.` : `${file} cannot be read: ${error.message}.`,
    );
  });
  const facts = await stat(path);
  if (facts.isDirectory())
    throw new CliError(`${file} is a directory. Name its files, for example with ${file}/*.`);
  if (!facts.isFile())
    throw new CliError(
      `${file} is not a regular file. Use - and --filename, with ${file} as standard input.`,
    );
  if (facts.size === 0) throw new CliError(`${file} is empty.`);
  const name = ticketName(connection, { path, size: facts.size, modified: facts.mtimeMs }, fields);
  return { source: file, keptTicket: new StoredTicket(ticketsDirectory(env), name) };
}

/** One line, e.g. `holiday.mp4: 42 %, 12.3 MB of 29.0 MB, 3.1 MB/s, 5 s left`. */
export function progressText(
  name: string,
  sent: number,
  total: number | null,
  bytesPerSecond: number,
): string {
  const parts = [
    total === null ? '' : `${total === 0 ? 100 : Math.floor((100 * sent) / total)} %`,
    total === null ? sizeText(sent) : `${sizeText(sent)} of ${sizeText(total)}`,
    bytesPerSecond === 0 ? '' : `${sizeText(Math.round(bytesPerSecond))}/s`,
    total === null || bytesPerSecond === 0 ? '' : `${durationText((total - sent) / bytesPerSecond)} left`,
  ];
  return `${name}: ${parts.filter((part) => part !== '').join(', ')}`;
}

function describe({ id, title, status, embed, hls }: Video): string {
  return facts({ Video: id, Title: title, Status: status, Page: embed, HLS: hls });
}
