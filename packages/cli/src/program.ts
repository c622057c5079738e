import { Command, CommanderError } from 'commander';
import { UsageError } from './cli-error.ts';
import { addVideoCommands } from './commands/videos.ts';
import { explain } from './explain.ts';
import { addExport } from './export/commands.ts';
import type { Host } from './host.ts';
import { addImportLibrary } from './library/commands.ts';
import { EXIT } from './output.ts';

/** Adds all commands to a program, such as that of the installed server. Actions throw errors that `explain` puts into words. */
export function addCommands(program: Command, host: Host): void {
  addVideoCommands(program, host);
  addImportLibrary(program, host);
  addExport(program, host);
}

/** Runs one command. Resolves with the exit code; never throws. */
export async function runCli(args: readonly string[], host: Host): Promise<number> {
  const program = new Command('framelane').description(
    'Uploads and manages videos of a Framelane installation.',
  );
  addCommands(program, host);
  return runProgram(program, args, host);
}

/** Parses the arguments of a program that has the commands, and runs one. Resolves with the exit code; never throws. */
export async function runProgram(program: Command, args: readonly string[], host: Host): Promise<number> {
  try {
    for (const command of everyCommand(program))
      command
        .exitOverride()
        .showHelpAfterError('(add --help to list commands and options)')
        .configureOutput({ writeOut: host.write, writeErr: host.writeError });
    await program.parseAsync(args, { from: 'user' });
    return EXIT.ok;
  } catch (error) {
    // Commander has printed the message. Help is not an error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    // The person knows why.
    if (host.signal.aborted) return EXIT.failure;
    host.writeError(`${explain(error)}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failure;
  }
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}
