import type { Host } from '../host.ts';
import type { Output } from '../output.ts';
import { terminalText } from './terminal-text.ts';

/** Milliseconds between two reports: in a terminal, whose line is written over; and elsewhere, where each report is a line. */
const PAUSE_MS = { terminal: 100, lines: 5_000 } as const;

/** Reports progress: on standard error one line that changes, or a line every few seconds if nobody watches; with `--json` as events. */
export class ProgressLine {
  readonly #host: Pick<Host, 'isTerminal' | 'columns' | 'writeError'>;
  readonly #output: Pick<Output, 'json' | 'data'>;
  readonly #now: () => number;
  #shownAt = Number.NEGATIVE_INFINITY;
  #isOpen = false;

  constructor(
    host: Pick<Host, 'isTerminal' | 'columns' | 'writeError'>,
    output: Pick<Output, 'json' | 'data'>,
    now: () => number = () => performance.now(),
  ) {
    this.#host = host;
    this.#output = output;
    this.#now = now;
  }

  /** Reports, unless there was a report just now. */
  show(text: string, event: object): void {
    const { isTerminal, columns, writeError } = this.#host;
    const isLine = isTerminal && !this.#output.json;
    if (this.#now() - this.#shownAt < PAUSE_MS[isLine ? 'terminal' : 'lines']) return;
    this.#shownAt = this.#now();
    this.#isOpen = isLine;
    const line = terminalText(text);
    if (this.#output.json) this.#output.data({ type: 'progress', ...event });
    else writeError(isLine ? `\r${line.slice(0, columns() - 1)}\u001b[K` : `${line}\n`);
  }

  /** Clears the line, so that other output can follow. */
  clear(): void {
    if (this.#isOpen) this.#host.writeError('\r\u001b[K');
    this.#isOpen = false;
  }
}
