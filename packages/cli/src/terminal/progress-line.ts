import type { Host } from '../host.ts';
import { terminalText } from './terminal-text.ts';

/** Milliseconds between two reports: in a terminal, whose line is written over, and elsewhere, where each report is a line. */
const PAUSE_MS = { terminal: 100, lines: 5_000 } as const;

/** Shows progress on standard error: one line that changes, or a line every few seconds if nobody watches. */
export class ProgressLine {
  readonly #host: Host;
  readonly #now: () => number;
  #shownAt = Number.NEGATIVE_INFINITY;
  #isOpen = false;

  constructor(host: Host, now: () => number = () => performance.now()) {
    this.#host = host;
    this.#now = now;
  }

  /** Shows the text, unless another one was shown just now. */
  show(text: string): void {
    const { isTerminal } = this.#host;
    if (this.#now() - this.#shownAt < PAUSE_MS[isTerminal ? 'terminal' : 'lines']) return;
    this.#shownAt = this.#now();
    const line = terminalText(text);
    if (!isTerminal) this.#host.writeError(`${line}\n`);
    else this.#host.writeError(`\r${line.slice(0, this.#host.columns() - 1)}\u001b[K`);
    this.#isOpen = isTerminal;
  }

  /** Clears the line, so that other output can follow. */
  clear(): void {
    if (this.#isOpen) this.#host.writeError('\r\u001b[K');
    this.#isOpen = false;
    this.#shownAt = Number.NEGATIVE_INFINITY;
  }
}
