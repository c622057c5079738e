import { Agent, type IncomingMessage, request as startRequest } from 'node:http';
import { performance } from 'node:perf_hooks';

/** A request, over HTTP to this machine. */
export type Shot = { method: 'GET' | 'POST'; url: string; headers?: Record<string, string>; body?: string };

/** Requests that take turns, this many a second. */
export type Stream = { name: string; perSecond: number; shots: Shot[] };

export type Task = { streams: Stream[]; seconds: number };

/** What the requests of a stream met. Times in milliseconds, from the moment at which the request was due. */
export type Outcome = {
  offered: number;
  /** Complete responses, by status. */
  statuses: Record<string, number>;
  /** Responses with 429 or 503 and no `Retry-After`. */
  withoutRetryAfter: number;
  /** Requests without a complete response, by the code of the error. */
  errors: Record<string, number>;
  /** Of the responses below 400. */
  p50: number;
  p99: number;
};

/**
 * A program that performs each task of its parent, and sends an Outcome for each stream back. It is an open loop: a request is sent when it is
 * due, whether or not the ones before it have a response. A closed loop would slow down together with the server and hide how long users wait.
 */
process.on('message', (task: Task) => void perform(task).then((outcomes) => process.send?.(outcomes)));
process.once('disconnect', () => process.exit());

const TICK_MS = 5;
const TIMEOUT_MS = 20_000;
/** Connections of a stream. Beyond this number, requests wait for one, and their time counts. */
const CONNECTIONS = 500;

type Tally = Outcome & { times: number[] };

async function perform({ streams, seconds }: Task): Promise<Record<string, Outcome>> {
  const tallies = new Map<string, Tally>();
  const startedAt = performance.now();
  const pending = new Set<Promise<void>>();
  const agents = new Map<string, Agent>();
  for (const { name } of streams) {
    tallies.set(name, emptyTally());
    agents.set(name, new Agent({ keepAlive: true, maxSockets: CONNECTIONS }));
  }
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsed = Math.min(seconds, (performance.now() - startedAt) / 1000);
      for (const { name, perSecond, shots } of streams) {
        const tally = tallies.get(name) as Tally;
        for (; tally.offered < Math.floor(elapsed * perSecond); tally.offered += 1) {
          const dueAt = startedAt + ((tally.offered + 1) / perSecond) * 1000;
          const shot = shots[tally.offered % shots.length] as Shot;
          const done = shoot(shot, agents.get(name) as Agent, dueAt, tally).finally(() =>
            pending.delete(done),
          );
          pending.add(done);
        }
      }
      if (elapsed < seconds) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  await Promise.all(pending);
  for (const agent of agents.values()) agent.destroy();
  return Object.fromEntries([...tallies].map(([name, tally]) => [name, outcomeOf(tally)]));
}

function shoot(
  { method, url, headers, body }: Shot,
  agent: Agent,
  dueAt: number,
  tally: Tally,
): Promise<void> {
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) => {
      count(tally.errors, error.code ?? error.message);
      resolve();
    };
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const options = {
      method,
      agent,
      headers: { ...headers, ...length },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    };
    const sent = startRequest(url, options, (response) => {
      response.on('error', fail);
      response.on('end', () => {
        take(response, performance.now() - dueAt, tally);
        resolve();
      });
      response.resume();
    });
    sent.on('error', fail);
    sent.end(body);
  });
}

function take({ statusCode = 0, headers }: IncomingMessage, milliseconds: number, tally: Tally): void {
  count(tally.statuses, String(statusCode));
  if (statusCode < 400) tally.times.push(milliseconds);
  if ([429, 503].includes(statusCode) && headers['retry-after'] === undefined) tally.withoutRetryAfter += 1;
}

function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

function emptyTally(): Tally {
  return { offered: 0, statuses: {}, withoutRetryAfter: 0, errors: {}, times: [], p50: 0, p99: 0 };
}

function outcomeOf({ times, ...outcome }: Tally): Outcome {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
  return { ...outcome, p50: at(0.5), p99: at(0.99) };
}
