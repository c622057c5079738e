import { parseArgs } from 'node:util';

/**
 * Reads the options and the names of a command line, and adds `--help`. Prints the help and exits with 0 if it is wanted;
 * prints what is wrong and the help, and exits with 1, after an unknown option or a name that is not in `known`.
 *
 * @param options as for `parseArgs`
 * @param kind what the names stand for, in the error
 * @param known returns the possible names for the values of the options; throws an Error about a wrong value
 */
export function readCommandLine({ options, kind, known, help }) {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' }, ...options },
    });
    if (values.help) {
      console.log(help);
      process.exit(0);
    }
    const names = known(values);
    const unknown = positionals.filter((name) => !names.includes(name));
    if (unknown.length > 0) throw new Error(`There is no ${kind} named ${unknown.join(', ')}`);
    return { options: values, names: positionals.length > 0 ? positionals : names };
  } catch (error) {
    console.error(`${error.message.split('. ')[0]}.\n\n${help}`);
    process.exit(1);
  }
}
