import { parseArgs } from 'node:util';
import { SettingsError } from '@framelane/service-kit/settings';

/** What `npm start` says about itself. */
export const HELP = `npm start [-- --help]

Runs Framelane on this machine until Ctrl-C: the control plane, an engine, PostgreSQL and a
queue. The first start installs what it needs, and creates a workspace and an API key.

Settings are environment variables, for example:

  PORT          port of the API and the console; 8080 by default
  ENGINE_PORT   port for uploads; 8090 by default
  DATA_DIR      directory of all data; .data by default
  PUBLIC_URL    the URL at which clients reach the API

docs/configuration.md lists all of them.
`;

/** Whether the command line asks for help. Throws a SettingsError about any other argument. */
export function wantsHelp(args: readonly string[]): boolean {
  try {
    const { values } = parseArgs({ args: [...args], options: { help: { type: 'boolean', short: 'h' } } });
    return values.help === true;
  } catch (error) {
    const [sentence] = (error as Error).message.split('. ');
    throw new SettingsError(`${sentence}. Settings are environment variables: see npm start -- --help`);
  }
}
