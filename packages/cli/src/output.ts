import type { Command } from 'commander';
import type { Host } from './host.ts';
import { terminalJson } from './terminal/terminal-text.ts';

/** Exit codes of all commands. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** Prints results: for people, or with `--json` for programs. */
export class Output {
  readonly json: boolean;
  readonly #host: Host;

  constructor(host: Host, { json = false }: { json?: boolean | undefined }) {
    this.#host = host;
    this.json = json;
  }

  /** The only result of a command: one JSON document, or a text whose untrusted parts are escaped for the terminal. */
  result<T>(value: T, describe: (value: T) => string): void {
    this.#host.write(this.json ? `${terminalJson(JSON.stringify(value, null, 2))}\n` : describe(value));
  }

  /** One of many results, printed when it is there: a line of JSON, or a text. */
  event<T>(value: T, describe: (value: T) => string): void {
    this.#host.write(this.json ? `${terminalJson(JSON.stringify(value))}\n` : describe(value));
  }

  /** One of many results that only programs need, such as progress: a line of JSON. */
  data(value: object): void {
    if (this.json) this.event(value, () => '');
  }

  /** Something that only people need to know, on standard error. */
  note(text: string): void {
    if (!this.json) this.#host.writeError(`${text}\n`);
  }
}

/** Adds `--json`. */
export function jsonOption(command: Command): Command {
  return command.option('--json', 'print JSON');
}
