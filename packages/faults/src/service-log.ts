/** An event in the log of a service, with its facts. */
export type LogEvent = Record<string, unknown>;

/** What a service prints. Tests ask often, so each line is parsed once. */
export class ServiceLog {
  readonly #lines: string[] = [];
  readonly #events = new Map<unknown, LogEvent[]>();

  add(line: string): void {
    this.#lines.push(line);
    const event = parsed(line);
    if (event === undefined) return;
    const others = this.#events.get(event.message);
    if (others) others.push(event);
    else this.#events.set(event.message, [event]);
  }

  /** Everything that was printed. */
  get text(): string {
    return this.#lines.join('\n');
  }

  /** The events with a name, in their order. */
  events(name: string): readonly LogEvent[] {
    return this.#events.get(name) ?? [];
  }
}

/** Undefined for a line that is not of the log, or that a killed process did not complete. */
function parsed(line: string): LogEvent | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
