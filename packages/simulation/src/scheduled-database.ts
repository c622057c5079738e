import { writeFileSync } from 'node:fs';
import pg from 'pg';
import { currentProcess, type SimulatedProcess, whileAlive } from './simulated-process.ts';
import { realTime } from './virtual-time.ts';
import { latency, type World } from './world.ts';

/** A statement that waits for a lock is cancelled after this virtual time, as `statement_timeout` does. */
const STATEMENT_MS = 5_000;

/** How long a statement may run before it is checked for waiting, and the pause between two checks, in real milliseconds. */
const CHECK_MS = 2;

/** Checks in a row that must find it waiting: locks within the server are held for moments. */
const CHECKS = 3;

/** A statement at the server. */
type Running = {
  pid: number;
  /** Its place in the order in which statements began. */
  order: number;
  /** Resolves when the server has finished it. */
  end: Promise<unknown>;
  /** Lets its caller go on. */
  release: () => void;
};

/**
 * A real PostgreSQL whose statements run in an order that the seed decides. Each takes virtual time on the way to the server and back. Meanwhile
 * others run, so transactions interleave statement by statement, and wait for locks as they do in production. The server sees the virtual time.
 */
export class ScheduledDatabase {
  readonly #world: World;
  readonly #monitor: pg.Client;
  readonly #clockFile: string;
  /** Operations of connections that need no lock. */
  #busy = 0;
  readonly #running = new Set<Running>();
  /** Statements that the server has finished, whose callers wait for the order. */
  #finished: Running[] = [];
  /** Sounds when the server has finished something. */
  readonly #end = new Signal();
  #changed = true;
  #writtenTime = -1;
  #counted = 0;

  /** `monitor` is connected, as a superuser, and not part of the system. `clockFile` is what the server reads as the time. */
  constructor(world: World, options: { monitor: pg.Client; clockFile: string }) {
    this.#world = world;
    this.#monitor = options.monitor;
    this.#clockFile = options.clockFile;
  }

  /** The number of statements so far. */
  get statements(): number {
    return this.#counted;
  }

  /** The class of the connections of the system. */
  clientClass(): typeof pg.Client {
    const database = this;
    // pg passes one of several kinds of arguments; the services use text with values, and an object with a name.
    class ScheduledClient extends pg.Client {
      #process: SimulatedProcess | undefined;

      constructor(config: pg.ClientConfig) {
        // The server would apply them to the real time.
        super({ ...config, statement_timeout: 0, idle_in_transaction_session_timeout: 0 });
      }

      override connect(callback?: unknown): never {
        this.#process = currentProcess();
        const connecting = whileAlive(database.connect(() => super.connect() as unknown as Promise<void>));
        this.#process?.onKill(() => database.disconnect(this));
        if (typeof callback === 'function') {
          connecting.then(
            () => callback(null, this),
            (error) => callback(error),
          );
          return undefined as never;
        }
        return connecting as never;
      }

      override query(...args: never[]): never {
        const [first, second] = args as unknown[];
        const query = typeof first === 'string' ? { text: first, values: second } : first;
        if (typeof second === 'function' || !isStatement(query))
          return (super.query as (...all: unknown[]) => unknown).apply(this, args) as never;
        const send = (statement: object) => super.query(statement as never) as unknown as Promise<unknown>;
        const running = database.run(this, query, send);
        return whileAlive(running, this.#process) as never;
      }
    }
    return ScheduledClient;
  }

  /** Resolves when the server has finished all statements that it can finish now. Those that remain wait for locks. */
  async settle(): Promise<void> {
    while (this.#busy > 0) await this.#end.wait();
    let waits = 0;
    while (this.#running.size > 0 && this.#changed) {
      // Without a spinning event loop, the server has the processor.
      if (await this.#end.wait(CHECK_MS)) continue;
      const before = [...this.#running];
      const isSame = (await this.#allWait(before)) && before.every((each) => this.#running.has(each));
      waits = isSame && before.length === this.#running.size ? waits + 1 : 0;
      if (waits === CHECKS) this.#changed = false;
    }
    // In which order the server finishes those that waited for the same lock is not up to the seed.
    const finished = this.#finished.sort((one, other) => one.order - other.order);
    this.#finished = [];
    for (const { release } of finished) release();
  }

  async connect(work: () => Promise<void>): Promise<void> {
    await latency(this.#world);
    // Decided now: in which order the server responds to several is not up to the seed.
    const back = latency(this.#world);
    await this.#real(work).finally(() => back);
  }

  /** The server ends the session of a killed process, and rolls its transaction back. */
  async disconnect(client: pg.Client): Promise<void> {
    const { processID } = client as unknown as { processID: number | null };
    if (processID === null) return;
    await this.#real(async () => {
      await this.#monitor.query('select pg_terminate_backend($1, 5000)', [processID]);
      this.#changed = true;
    });
  }

  async run(
    client: pg.Client,
    query: { text: string; values?: unknown },
    send: (statement: object) => Promise<unknown>,
  ): Promise<unknown> {
    const { time, history } = this.#world;
    const process = currentProcess();
    await latency(this.#world);
    if (process?.isAlive === false) return new Promise(() => {});
    const back = latency(this.#world);
    this.#counted += 1;
    history.mark(process?.name ?? 'simulation', query.text.slice(0, 60));
    this.#setTime();
    const isBegin = /^(begin|start transaction)/.test(query.text);
    const statement = isBegin
      ? { text: `${query.text}; set local simulated.now = '${time.epochMs() / 1000}'` }
      : query;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const result = send(statement);
    const end = result.catch(() => {});
    const pid = (client as unknown as { processID: number }).processID;
    const running: Running = { pid, order: this.#counted, end, release };
    this.#running.add(running);
    this.#changed = true;
    void end.then(() => {
      this.#running.delete(running);
      this.#finished.push(running);
      this.#changed = true;
      this.#end.sound();
    });
    void time.sleep(STATEMENT_MS).then(() => this.#cancel(running));
    await released;
    await back;
    return result;
  }

  /** Cancels a statement that still waits for a lock. */
  async #cancel(running: Running): Promise<void> {
    if (!this.#running.has(running)) return;
    await this.#real(async () => {
      await this.#monitor.query('select pg_cancel_backend($1)', [running.pid]);
      await running.end;
    });
  }

  async #real<T>(work: () => Promise<T>): Promise<T> {
    this.#busy += 1;
    try {
      return await work();
    } finally {
      this.#busy -= 1;
      this.#end.sound();
    }
  }

  /** Whether all of these wait for locks, and for nobody among them: the server ends deadlocks itself. */
  async #allWait(running: readonly Running[]): Promise<boolean> {
    const { rows } = await this.#monitor.query<{ pid: number; blockers: number[] }>(
      'select distinct pid, pg_blocking_pids(pid) as blockers from pg_locks where not granted and pid = any($1)',
      [running.map(({ pid }) => pid)],
    );
    const blockers = new Map(rows.map((row) => [row.pid, row.blockers]));
    return running.every(({ pid }) => blockers.has(pid)) && !hasCycle(blockers);
  }

  #setTime(): void {
    const now = this.#world.time.epochMs();
    if (now === this.#writtenTime) return;
    this.#writtenTime = now;
    writeFileSync(this.#clockFile, String(now / 1000));
  }
}

/** Wakes the one that waits. */
class Signal {
  #wake: (hasSounded: boolean) => void = () => {};

  sound(): void {
    this.#wake(true);
  }

  /** Resolves with true when it sounds, or with false after real milliseconds. */
  wait(milliseconds?: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer =
      milliseconds === undefined ? undefined : realTime.setTimeout(() => resolve(false), milliseconds);
    this.#wake = (hasSounded) => {
      realTime.clearTimeout(timer);
      resolve(hasSounded);
    };
    return promise;
  }
}

function isStatement(query: unknown): query is { text: string; values?: unknown } {
  return typeof query === 'object' && query !== null && 'text' in query && typeof query.text === 'string';
}

function hasCycle(blockers: ReadonlyMap<number, readonly number[]>): boolean {
  const reaches = (from: number, to: number, seen: Set<number>): boolean =>
    (blockers.get(from) ?? []).some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  return [...blockers.keys()].some((pid) => reaches(pid, pid, new Set()));
}
