import { CliError } from '../../cli-error.ts';
import type { SourceContext } from '../library-item.ts';

/** A secret from the environment: an argument could be seen by other users of the machine. Throws a CliError if it is missing. */
export function credential(env: SourceContext['env'], name: string, what: string): string {
  const value = env[name]?.trim();
  if (!value) throw new CliError(`Set the environment variable ${name}: ${what}.`);
  if (!/^[\x21-\x7E]+$/.test(value))
    throw new CliError(`The environment variable ${name} contains a character that no credential has.`);
  return value;
}
