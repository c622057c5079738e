import { readFile, writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Resources, Schemas } from '@framelane/client';
import { type Command, Option } from 'commander';
import { CliError } from '../cli-error.ts';
import type { Host } from '../host.ts';
import { apiCommand } from '../run-command.ts';
import { table } from '../terminal/table.ts';
import { captionsLanguage } from './captions-language.ts';

type AddOptions = Parameters<Resources['captions']['set']>[3] & { language?: string };

/** `captions` with its commands. */
export function addCaptionsCommands(program: Command, host: Host): void {
  const captions = program
    .command('captions')
    .description('list, add, generate, download and delete captions')
    .addHelpText(
      'after',
      '\nExamples:\n  framelane captions add vid_… talk.en.vtt --label English\n  framelane captions generate vid_… en de\n  framelane captions download vid_… en > talk.en.vtt',
    );

  apiCommand(
    captions.command('list').description('list the captions of a video').argument('<video>', 'the video'),
    host,
    async ({ client, output }, _options, video: string) => {
      output.result(await client.captions.list(video, { signal: host.signal }), describe);
    },
  );

  apiCommand(
    captions
      .command('add')
      .description('set or replace the captions of a language')
      .argument('<video>', 'the video')
      .argument('<file>', 'a WebVTT or SubRip file')
      .option(
        '--language <tag>',
        'the language (BCP 47); default: that in the name of the file, as in talk.en.vtt',
      )
      .option('--label <text>', "the name in the player's menu")
      .option('--default', 'players show them unless the viewer chooses otherwise')
      .addOption(new Option('--format <format>', 'default: that of the file').choices(['webvtt', 'subrip'])),
    host,
    async (
      { client, output },
      { language, label, format, ...options }: AddOptions,
      video: string,
      file: string,
    ) => {
      const tag = captionsLanguage(basename(file), language);
      const text = await readFile(file, 'utf8').catch((error: Error) => {
        throw new CliError(`${file} cannot be read: ${error.message}.`);
      });
      const set = { label, format, default: options.default, signal: host.signal };
      output.result(await client.captions.set(video, tag, text, set), (added) => describe([added]));
    },
  );

  apiCommand(
    captions
      .command('generate')
      .description('make captions by speech recognition')
      .argument('<video>', 'the video')
      .argument('[language...]', 'the languages; default: the spoken one'),
    host,
    async ({ client, output }, _options, video: string, languages: string[]) => {
      const choice = languages.length === 0 ? true : languages;
      const asked = await client.captions.generate(video, choice, { signal: host.signal });
      output.result(asked, () => 'They appear in the list when they are ready.\n');
    },
  );

  apiCommand(
    captions
      .command('download')
      .description('print captions as WebVTT, or write them to a file')
      .argument('<video>', 'the video')
      .argument('<language>', 'the language')
      .option('--output <file>', 'the file'),
    host,
    async ({ client, output }, { output: file }: { output?: string }, video: string, language: string) => {
      const text = await client.captions.get(video, language, { signal: host.signal });
      if (file !== undefined) await writeFile(file, text);
      // A file for programs: its characters stay as they are.
      else if (!output.json) host.write(text);
      if (output.json)
        output.result({ video, language, ...(file === undefined ? { text } : { file }) }, () => '');
    },
  );

  apiCommand(
    captions
      .command('delete')
      .description('delete the captions of a language')
      .argument('<video>', 'the video')
      .argument('<language>', 'the language'),
    host,
    async ({ client, output }, _options, video: string, language: string) => {
      await client.captions.delete(video, language, { signal: host.signal });
      output.result({ video, language }, () => `Deleted the captions ${language} of ${video}.\n`);
    },
  );
}

function describe(captions: readonly Schemas['Captions'][]): string {
  if (captions.length === 0) return 'The video has no captions.\n';
  return table(
    ['LANGUAGE', 'LABEL', 'ORIGIN', 'CUES', 'DEFAULT'],
    captions.map(({ language, label, origin, cues, default: isDefault }) => [
      language,
      label,
      origin,
      String(cues),
      isDefault ? 'yes' : 'no',
    ]),
  );
}
