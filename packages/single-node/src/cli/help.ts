import { parseArgs } from 'node:util';
import { SettingsError } from '@framelane/service-kit/settings';
import type { Installation } from '../installation.ts';

/** What the start says about itself. */
export function helpOf({ startWith, dataDir }: Installation): string {
  return `${startWith} [--help]

Runs Framelane on this machine until Ctrl-C: the control plane, an engine, PostgreSQL and a
queue. The first start creates a workspace and an API key.

Settings are environment variables, for example:

  PORT          port of the API and the console; 8080 by default
  ENGINE_PORT   port for uploads; 8090 by default
  DATA_DIR      directory of all data; ${dataDir} by default
  PUBLIC_URL    the URL at which clients reach the API

https://github.com/framelane/framelane/blob/main/docs/configuration.md lists all of them.
`;
}

/** Whether the command line asks for help. Throws a SettingsError about any other argument. */
export function wantsHelp(args: readonly string[], { startWith }: Pick<Installation, 'startWith'>): boolean {
  try {
    const { values } = parseArgs({ args: [...args], options: { help: { type: 'boolean', short: 'h' } } });
    return values.help === true;
  } catch (error) {
    const [sentence] = (error as Error).message.split('. ');
    throw new SettingsError(`${sentence}. Settings are environment variables: see ${startWith} --help`);
  }
}
