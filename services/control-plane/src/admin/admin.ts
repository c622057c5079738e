import { inspect } from 'node:util';
import { createLogger } from '@framelane/service-kit/logger';
import { Problem } from '@framelane/service-kit/problem';
import { SettingsError } from '@framelane/service-kit/settings';
import { terminalJson } from '@framelane/service-kit/terminal-text';
import { Command, CommanderError } from 'commander';
import pg from 'pg';
import { ApiKeysService } from '../api-keys/api-keys.service.ts';
import { openDatabase, openPatientPool } from '../db/database.ts';
import { isDatabaseUnavailable } from '../db/database-unavailable.ts';
import { migrateToLatest } from '../db/migrations.ts';
import { WorkspacesService } from '../workspaces/workspaces.service.ts';
import { AdminError, type AdminServices, type RunCommand } from './command.ts';
import { addKeyCommands } from './key-commands.ts';
import { addWorkspaceCommands } from './workspace-commands.ts';

/** Where the command line runs: which database it is about, and where it says things. */
export type AdminHost = {
  /** How it is called, for its help, e.g. `npm run admin --`. */
  calledAs: string;
  /** More for the help: which database it will find. */
  note: string;
  /** Finds the database; asked only when a command needs it. Throws a SettingsError when there is none. */
  provideDatabase(): Promise<{ url: string; release(): Promise<void> }>;
  write(text: string): void;
  writeError(text: string): void;
};

/** Runs one command of the administrators' command line. Resolves with the exit code; never throws. */
export async function runAdmin(args: readonly string[], host: AdminHost): Promise<number> {
  try {
    await adminProgram(host).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has said it already.
    if (error instanceof CommanderError) return error.exitCode;
    host.writeError(`${explain(error)}\n`);
    return 1;
  }
}

function adminProgram(host: AdminHost): Command {
  const run: RunCommand = async (options, work, describe) => {
    const result = await withServices(host, work);
    host.write(options.json ? `${terminalJson(JSON.stringify(result, null, 2))}\n` : describe(result));
  };
  const program = new Command(host.calledAs)
    .description('Makes workspaces and API keys, without an API key.')
    .configureOutput({ writeOut: host.write, writeErr: host.writeError })
    .exitOverride()
    .showHelpAfterError('(--help shows what is possible)')
    .addHelpText('after', `\n${host.note}\n`);
  addWorkspaceCommands(program, run);
  addKeyCommands(program, run);
  return program;
}

/** Opens the database, brings it to the newest schema, and closes it again whatever happens. */
async function withServices<T>(host: AdminHost, work: (services: AdminServices) => Promise<T>): Promise<T> {
  const database = await host.provideDatabase();
  try {
    // What is worth telling comes back as a result or an error.
    const logger = createLogger({ service: 'admin', level: 'silent' });
    const db = openDatabase(openPatientPool(database.url, logger));
    try {
      await migrateToLatest(db);
      return await work({
        workspaces: new WorkspacesService({ db }),
        keys: new ApiKeysService({ db, logger }),
      });
    } finally {
      await db.destroy();
    }
  } finally {
    await database.release();
  }
}

/** What people can solve in words, all else with its trace. */
function explain(error: unknown): string {
  if (error instanceof AdminError || error instanceof SettingsError || error instanceof Problem) {
    return error.message;
  }
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof pg.DatabaseError) return `The database refuses: ${cause.message}.`;
  if (isDatabaseUnavailable(cause)) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return `The database cannot be reached: ${code ?? message}. Is the address right, and is it running?`;
  }
  return inspect(error);
}
