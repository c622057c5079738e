import { createHash } from 'node:crypto';

/** A word in the history that stands for an id: `video 3` is the third video that the run has named. */
const ID = /\b(vid|ws|eng|key|ses|whk|evt|dlv|req|msg|xfr|wmk|log|aud)_[0-9a-hjkmnp-tv-z]{26}\b/g;

/** What a run did, in order. Two runs of one seed have the same history. */
export class History {
  readonly #now: () => number;
  readonly #digest = createHash('sha256');
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();
  readonly #lines: string[] = [];
  readonly #onLine: ((line: string, isMark: boolean) => void) | undefined;
  #events = 0;

  /** `now` is the virtual time in milliseconds since the start. */
  constructor(now: () => number, onLine?: (line: string, isMark: boolean) => void) {
    this.#now = now;
    this.#onLine = onLine;
  }

  /** The number of events, including those without a line. */
  get events(): number {
    return this.#events;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Identifies the history: two runs with the same events have the same one. */
  digest(): string {
    return this.#digest.copy().digest('hex').slice(0, 16);
  }

  /** Records an event that people read. */
  say(who: string, what: string): void {
    const line = this.#record(who, what);
    this.#lines.push(line);
    this.#onLine?.(line, false);
  }

  /** Records an event that only the digest contains: there are too many to read. */
  mark(who: string, what: string): void {
    const line = this.#record(who, what);
    this.#onLine?.(line, true);
  }

  #record(who: string, what: string): string {
    this.#events += 1;
    const line = `${clockOf(this.#now())} ${who.padEnd(10)} ${this.#named(what)}`;
    this.#digest.update(line);
    return line;
  }

  #named(text: string): string {
    return text.replace(ID, (id, prefix: string) => {
      const known = this.#names.get(id);
      if (known !== undefined) return known;
      const count = (this.#counts.get(prefix) ?? 0) + 1;
      this.#counts.set(prefix, count);
      const name = `${prefix}-${count}`;
      this.#names.set(id, name);
      return name;
    });
  }
}

/** Virtual time as `1:02:03.004`. */
function clockOf(milliseconds: number): string {
  const pad = (value: number, width: number) => String(value).padStart(width, '0');
  const seconds = Math.floor(milliseconds / 1000);
  return `${Math.floor(seconds / 3600)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}.${pad(Math.floor(milliseconds % 1000), 3)}`;
}
