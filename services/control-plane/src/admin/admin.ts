import { inspect } from 'node:util';
import { createLogger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import { SettingsError } from '@framelane/service-kit/settings';
import { terminalJson } from '@framelane/service-kit/terminal-text';
import { Command, CommanderError } from 'commander';
import pg from 'pg';
import { ApiKeysService } from '../api-keys/api-keys.service.ts';
import { ConsolePeopleService } from '../console-people/console-people.service.ts';
import { ConsoleSessionsService } from '../console-sessions/console-sessions.service.ts';
import { openDatabase, openMigrationPool } from '../db/database.ts';
import { isDatabaseUnavailable } from '../db/database-unavailable.ts';
import { migrateToLatest } from '../db/migrations.ts';
import { QuotasService } from '../quotas/quotas.service.ts';
import { WorkspacesService } from '../workspaces/workspaces.service.ts';
import { AdminError, type AdminServices, type CommandAction } from './command.ts';
import { addConsoleCommand } from './console-command.ts';
import { addKeyCommands } from './key-commands.ts';
import { addLimitCommands } from './limit-commands.ts';
import { addPersonCommands } from './person-commands.ts';
import { addWorkspaceCommands } from './workspace-commands.ts';

/** The environment of the command line: its database and its output. */
export type AdminHost = {
  /** The command that the help shows, e.g. `npm run admin --`. */
  calledAs: string;
  /** The end of the help: which database the commands use. */
  note: string;
  /** Resolves with the database; called only by commands that need it. Throws a SettingsError when none is configured. */
  provideDatabase(): Promise<{ url: string; release(): Promise<void> }>;
  /** The root of the public address. Throws a SettingsError when none is configured. */
  publicUrl(): string;
  write(text: string): void;
  writeError(text: string): void;
};

/** Runs one command of the administrators' command line. Resolves with the exit code; never throws. */
export async function runAdmin(args: readonly string[], host: AdminHost): Promise<number> {
  try {
    await adminProgram(host).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has printed the message.
    if (error instanceof CommanderError) return error.exitCode;
    host.writeError(`${explain(error)}\n`);
    return 1;
  }
}

function adminProgram(host: AdminHost): Command {
  const action: CommandAction = (work, describe) => async (options) => {
    const result = await withServices(host, (services) => work(services, options));
    host.write(options.json ? `${terminalJson(JSON.stringify(result, null, 2))}\n` : describe(result));
  };
  const program = new Command(host.calledAs)
    .description(
      'Manages workspaces, their API keys and their limits, and who may sign in to the console. Needs no API key.',
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
  return program;
}

/** Opens the database, migrates it to the latest schema, and closes it after the work. */
async function withServices<T>(host: AdminHost, work: (services: AdminServices) => Promise<T>): Promise<T> {
  const database = await host.provideDatabase();
  try {
    // Results and errors are printed; a log would repeat them.
    const logger = createLogger({ service: 'admin', level: 'silent' });
    const db = openDatabase(openMigrationPool(database.url, logger));
    try {
      await migrateToLatest(db);
      return await work({
        workspaces: new WorkspacesService({ db }),
        keys: new ApiKeysService({ db, logger }),
        quotas: new QuotasService({ db }),
        people: new ConsolePeopleService({ db }),
        consoleSessions: () => new ConsoleSessionsService({ db, logger, publicUrl: host.publicUrl() }),
      });
    } finally {
      await db.destroy();
    }
  } finally {
    await database.release();
  }
}

/** Returns the message of an error that an administrator can correct, or any other error with its stack trace. */
function explain(error: unknown): string {
  if (error instanceof AdminError || error instanceof SettingsError || error instanceof Problem) {
    return error.message;
  }
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof pg.DatabaseError) return `The database reports: ${cause.message}.`;
  if (isDatabaseUnavailable(cause)) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return `The database is unreachable: ${code ?? message}. Check its address and that it is running.`;
  }
  return inspect(error);
}
