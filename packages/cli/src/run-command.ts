import { createClient, type FramelaneClient } from '@framelane/client';
import type { Command } from 'commander';
import { type Connection, type ConnectionOptions, connectionOptions, findConnection } from './connection.ts';
import type { Host } from './host.ts';
import { jsonOption, Output } from './output.ts';

/** A person waits: this takes up to two seconds. Uploads and followed events go on for longer. */
const RETRIES = 2;

type CommonOptions = ConnectionOptions & { json?: boolean };

/** What the action of a command gets besides its arguments and options. */
export type Session = { connection: Connection; client: FramelaneClient; output: Output; host: Host };

/** Gives a command that uses the API its common options, and its action a client. */
export function apiCommand<Options extends object, Arguments extends unknown[]>(
  command: Command,
  host: Host,
  action: (session: Session, options: Options & CommonOptions, ...args: Arguments) => Promise<void>,
): void {
  jsonOption(connectionOptions(command)).action(async (...given: unknown[]) => {
    // Commander calls an action with the arguments, the options and the command.
    const options = given.at(-2) as Options & CommonOptions;
    const args = given.slice(0, -2) as Arguments;
    const connection = await findConnection(options, host);
    const client = createClient({ ...connection, retries: RETRIES });
    const session = { connection, client, output: new Output(host, options), host };
    await action(session, options, ...args);
  });
}
