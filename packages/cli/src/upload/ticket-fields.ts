import type { UploadTicketRequest } from '@framelane/client';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { collected, words } from '../arguments.ts';

/** The options of `upload` that are fields of the ticket. */
export type FieldOptions = {
  title?: string;
  tag?: string[];
  metadata?: Record<string, string>;
  passthrough?: string;
  playbackPolicy?: UploadTicketRequest['playbackPolicy'];
  packaging?: UploadTicketRequest['packaging'];
  codecs?: string[];
  download?: string[];
  autoCaptions?: string[];
  audioOnly?: true;
  filename?: string;
  fields?: Record<string, unknown>;
};

/** The value of `--auto-captions` for the language that is spoken. */
const SPOKEN = 'spoken';

/** Adds the options. The server checks their values, so that this program knows new ones. */
export function fieldOptions(command: Command): Command {
  return command
    .option('--title <text>', 'the title (default: the name of the file)')
    .option('--tag <tag>', 'a label; repeatable', collected)
    .option('--metadata <name=value>', 'your own data; repeatable', addPair)
    .option('--passthrough <text>', 'your own text, such as the id of the video in your system')
    .addOption(
      new Option('--playback-policy <policy>', 'who can play the video').choices(['public', 'signed']),
    )
    .addOption(new Option('--packaging <kind>', 'how segments are packed').choices(['ts', 'cmaf']))
    .option('--codecs <list>', 'codecs, such as h264,av1', words)
    .option('--download <list>', 'files to prepare for download, such as highest,audio', words)
    .option(
      '--auto-captions <list>',
      `captions by speech recognition in these languages, or ${SPOKEN}`,
      words,
    )
    .option('--audio-only', 'publish the sound alone')
    .option(
      '--fields <json>',
      'further fields of the upload ticket, such as \'{"keepSource":"never"}\'',
      readFields,
    );
}

/** The request of the ticket. Options win over `--fields`. */
export function ticketFields(options: FieldOptions): Partial<UploadTicketRequest> {
  const { title, tag, metadata, passthrough, playbackPolicy, packaging, codecs } = options;
  const { download, autoCaptions, audioOnly, filename, fields } = options;
  const named = {
    ...{ title, tags: tag, metadata, passthrough, playbackPolicy, packaging, codecs },
    ...{ downloads: download, autoCaptions: languagesOf(autoCaptions), audioOnly, filename },
  };
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  // The server says which values it refuses.
  return { ...fields, ...Object.fromEntries(given) } as Partial<UploadTicketRequest>;
}

/** The choice of languages in a ticket: `true` stands for the one that is spoken. */
function languagesOf(names: readonly string[] | undefined): readonly string[] | true | undefined {
  return names?.join() === SPOKEN ? true : names;
}

function addPair(text: string, former: Record<string, string> = {}): Record<string, string> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('Use name=value.');
  return { ...former, [text.slice(0, at)]: text.slice(at + 1) };
}

function readFields(text: string): Record<string, unknown> {
  try {
    const fields: unknown = JSON.parse(text);
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) return { ...fields };
  } catch {
    // The message below says what is expected.
  }
  throw new InvalidArgumentError('Use a JSON object, such as \'{"keepSource":"never"}\'.');
}
