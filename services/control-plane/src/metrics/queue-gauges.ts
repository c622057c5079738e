import { Gauge, type Registry } from 'prom-client';

/** Two gauges about a queue, `<name>` and `<name>_oldest_age_seconds`, with a label or two that divide it into parts. */
export class QueueGauges<L extends string> {
  readonly #count: Gauge<L>;
  readonly #oldestAge: Gauge<L>;

  constructor(registry: Registry, queue: { name: string; help: string; labelNames: readonly L[] }) {
    const { name, help, labelNames } = queue;
    const registers = [registry];
    this.#count = new Gauge({ name, help, labelNames, registers });
    this.#oldestAge = new Gauge({
      name: `${name}_oldest_age_seconds`,
      help: `${help}: for how long the first of them has been that`,
      labelNames,
      registers,
    });
  }

  set(part: Record<L, string>, { count, oldestSeconds }: { count: number; oldestSeconds?: number }): void {
    this.#count.set(part, count);
    if (oldestSeconds !== undefined) this.#oldestAge.set(part, oldestSeconds);
  }

  /** Forgets every part. */
  reset(): void {
    this.#count.reset();
    this.#oldestAge.reset();
  }
}
