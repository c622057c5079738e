import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { checkStream, failures } from './check.ts';
import { messageOf } from './loading/fetching.ts';
import { reportText } from './report-text.ts';
import { PROFILES, type Profile } from './rules.ts';

/** Exit codes of the command. */
export const EXIT = { passed: 0, broken: 1, notChecked: 2 } as const;

export type Output = { write(text: string): void; writeError(text: string): void };

type Options = {
  profile: Profile;
  json?: true;
  token?: string;
  header: Record<string, string>;
  concurrency: number;
  timeout: number;
};

/** Runs the command with these arguments. Resolves with the exit code. */
export async function runCommand(args: readonly string[], output: Output): Promise<number> {
  let exitCode: number = EXIT.notChecked;
  const command = new Command('hls-conformance')
    .description('Fetches an HLS video on demand, measures it and reports which rules it breaks.')
    .argument('<url>', 'URL of a master or media playlist', readUrl)
    .addOption(
      new Option('--profile <name>', 'the standards, or the standards and the rules of Framelane')
        .choices(PROFILES)
        .default('standard'),
    )
    .option('--json', 'print the report as JSON')
    .option('--token <token>', 'playback token, added to the URL')
    .option('--header <line>', 'header for the origin of the URL, "Name: value"; repeatable', addHeader, {})
    .option('--concurrency <n>', 'renditions to read at once', positive, 4)
    .option('--timeout <seconds>', 'timeout for a server that sends nothing', positive, 30)
    .addHelpText(
      'after',
      '\nExit code: 0 if no "must" or "own" rule is broken ("should" rules are only reported), 1 if one is broken,' +
        '\n2 if the stream could not be checked.',
    )
    .exitOverride()
    .configureOutput({ writeOut: output.write, writeErr: output.writeError })
    .action(async (url: URL, options: Options) => {
      exitCode = await check(url, options, output);
    });
  try {
    await command.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Commander has printed the error. Help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.passed : EXIT.notChecked;
    output.writeError(`hls-conformance: ${messageOf(error)}\n`);
    return EXIT.notChecked;
  }
}

async function check(url: URL, options: Options, output: Output): Promise<number> {
  const { profile, json, token, header, concurrency, timeout } = options;
  if (token !== undefined) url.searchParams.set('token', token);
  const { report } = await checkStream(url.href, {
    profile,
    headers: header,
    concurrency,
    timeoutSeconds: timeout,
  });
  output.write(json ? `${JSON.stringify(report, null, 2)}\n` : reportText(report));
  return failures(report, ['must', 'own']).length > 0 ? EXIT.broken : EXIT.passed;
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new InvalidArgumentError('Use an http or https URL.');
}

function addHeader(line: string, headers: Record<string, string>): Record<string, string> {
  const [, name, value] = /^([\w-]+):(.+)$/.exec(line) ?? [];
  if (name === undefined || !value?.trim()) throw new InvalidArgumentError('Use "Name: value".');
  return { ...headers, [name]: value.trim() };
}

function positive(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new InvalidArgumentError('Use a whole number above 0.');
}
