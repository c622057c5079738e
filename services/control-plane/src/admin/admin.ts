import { inspect } from 'node:util';
import { SymbolicLinkError } from '@framelane/object-store/symbolic-links';
import { createLogger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import { SettingsError } from '@framelane/service-kit/settings';
import { terminalJson } from '@framelane/service-kit/terminal-text';
import { Command, CommanderError } from 'commander';
import pg from 'pg';
import { ApiKeysService } from '../api-keys/api-keys.service.ts';
import { BackupError, DamagedBackupError, UnknownFormatError } from '../backups/backup-errors.ts';
import { UnsealError } from '../backups/sealed-text.ts';
import { ConsolePeopleService } from '../console-people/console-people.service.ts';
import { ConsoleSessionsService } from '../console-sessions/console-sessions.service.ts';
import type { Actor } from '../db/actor.ts';
import { isDatabaseUnavailable } from '../db/database-unavailable.ts';
import { migrateToLatest } from '../db/migrations.ts';
import { QuotasService } from '../quotas/quotas.service.ts';
import { WorkspacesService } from '../workspaces/workspaces.service.ts';
import { addBackupCommands } from './backup-commands.ts';
import { AdminError, type AdminServices, type CommandAction, type PrintResult } from './command.ts';
import { addConsoleCommand } from './console-command.ts';
import { type AdminHost, withDatabase } from './host.ts';
import { addKeyCommands } from './key-commands.ts';
import { addLimitCommands } from './limit-commands.ts';
import { addPersonCommands } from './person-commands.ts';
import { addRestoreCommand } from './restore-command.ts';
import { addVerifyCommand } from './verify-command.ts';
import { addWorkspaceCommands } from './workspace-commands.ts';

/** Runs one command of the administrators' command line. Resolves with the exit code; never throws. */
export async function runAdmin(args: readonly string[], host: AdminHost): Promise<number> {
  let hasFailed = false;
  try {
    await adminProgram(host, () => {
      hasFailed = true;
    }).parseAsync(args, { from: 'user' });
    return hasFailed ? 1 : 0;
  } catch (error) {
    // Commander has printed the message.
    if (error instanceof CommanderError) return error.exitCode;
    host.writeError(`${explain(error)}\n`);
    return 1;
  }
}

/** `onFailure` is called if the result of a command is a failure. */
function adminProgram(host: AdminHost, onFailure: () => void): Command {
  const print: PrintResult = (result, options, describe, isFailure) => {
    host.write(options.json ? `${terminalJson(JSON.stringify(result, null, 2))}\n` : describe(result));
    if (isFailure?.(result)) onFailure();
  };
  const action: CommandAction = (work, describe) => async (options, command) => {
    const result = await withServices(host, operationOf(command), (services) => work(services, options));
    print(result, options, describe);
  };
  const program = new Command(host.calledAs)
    .description(
      'Manages workspaces, their API keys and their limits, and who may sign in to the console. Makes, checks and restores backups. Needs no API key.',
    )
    .configureOutput({ writeOut: host.write, writeErr: host.writeError })
    .exitOverride()
    .showHelpAfterError('(add --help to list commands and options)')
    .addHelpText('after', `\n${host.note}\n`);
  addWorkspaceCommands(program, action);
  addKeyCommands(program, action);
  addLimitCommands(program, action);
  addConsoleCommand(program, action);
  addPersonCommands(program, action);
  addVerifyCommand(program, host, print);
  addBackupCommands(program, host, print);
  addRestoreCommand(program, host, print);
  return program;
}

/** E.g. `key create`. */
function operationOf(command: Command): string {
  return [command.parent?.parent ? command.parent.name() : [], command.name()].flat().join(' ');
}

/** Migrates the database to the latest schema before the work. The audit log has what the work changes. */
function withServices<T>(
  host: AdminHost,
  operation: string,
  work: (services: AdminServices) => Promise<T>,
): Promise<T> {
  const actor: Actor = {
    type: 'command_line',
    id: null,
    name: 'Command line',
    operation,
    requestId: null,
  };
  return withDatabase(
    host,
    async (db) => {
      await migrateToLatest(db);
      const logger = createLogger({ service: 'admin', level: 'silent' });
      return await work({
        workspaces: new WorkspacesService({ db }),
        keys: new ApiKeysService({ db, logger }),
        quotas: new QuotasService({ db }),
        people: new ConsolePeopleService({ db }),
        consoleSessions: () => new ConsoleSessionsService({ db, logger, publicUrl: host.publicUrl() }),
      });
    },
    actor,
  );
}

/** Errors whose message is for the administrator. */
const FOR_ADMINISTRATORS = [
  ...[AdminError, SettingsError, Problem],
  ...[BackupError, UnknownFormatError, UnsealError, SymbolicLinkError],
];

/** Returns the message of an error that an administrator can correct, or any other error with its stack trace. */
function explain(error: unknown): string {
  if (error instanceof DamagedBackupError)
    return `${error.message} Choose another backup with --id: "backup list" shows all.`;
  for (const type of FOR_ADMINISTRATORS) if (error instanceof type) return error.message;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof pg.DatabaseError) return `The database reports: ${cause.message}.`;
  // An error of the AWS SDK, also if the server is unreachable.
  if (cause instanceof Error && '$metadata' in cause) {
    return `The object store cannot be used: ${cause.name}: ${cause.message}. Check its settings and that it is running.`;
  }
  if (isDatabaseUnavailable(cause)) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return `The database is unreachable: ${code ?? message}. Check its address and that it is running.`;
  }
  // An error of the file system.
  if (cause instanceof Error && 'syscall' in cause) return `${cause.message}.`;
  return inspect(error);
}
