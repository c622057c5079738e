import { Command, CommanderError } from 'commander';
import { addCaptionsCommands } from './captions/captions-commands.ts';
import { CliError, UsageError } from './cli-error.ts';
import { addCompletionCommands } from './completion/completion-command.ts';
import { addEventsCommands } from './events/events-commands.ts';
import { addListenCommand } from './events/listen-command.ts';
import { explain } from './explain.ts';
import type { Host } from './host.ts';
import { addMcpCommand } from './mcp/mcp-command.ts';
import { EXIT } from './output.ts';
import { ownVersion } from './own-version.ts';
import { addLoginCommand } from './sign-in/login-command.ts';
import { addLogoutCommand } from './sign-in/logout-command.ts';
import { addWhoamiCommand } from './sign-in/whoami-command.ts';
import { addUploadCommand } from './upload/upload-command.ts';
import { addVideoCommands } from './videos/video-commands.ts';
import { addWebhookCommands } from './webhooks/webhook-commands.ts';

/** Adds all commands to a program, such as that of the installed server. `runProgram` puts the errors of their actions into words. */
export function addCommands(program: Command, host: Host): void {
  addLoginCommand(program, host);
  addLogoutCommand(program, host);
  addWhoamiCommand(program, host);
  addUploadCommand(program, host);
  addVideoCommands(program, host);
  addCaptionsCommands(program, host);
  addWebhookCommands(program, host);
  addListenCommand(program, host);
  addEventsCommands(program, host);
  addMcpCommand(program, host);
  addCompletionCommands(program, host);
}

/** Runs one command. Resolves with the exit code; never throws. */
export async function runCli(args: readonly string[], host: Host): Promise<number> {
  const program = new Command('framelane')
    .description('Uploads and manages videos of a Framelane installation.')
    .version(ownVersion(), '--version', 'print the version');
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
    if (host.signal.aborted && !(error instanceof CliError)) return EXIT.failure;
    host.writeError(`${explain(error)}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failure;
  }
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}
