import autocannon from 'autocannon';

/** A request to repeat. */
export type Task = {
  url: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Paths that take turns instead of that of the URL. */
  requests?: { path: string }[];
  /** Whether `[<id>]` in the body is replaced with an id that is new for each request. */
  idReplacement?: boolean;
  connections: number;
  amount: number;
};

/** The measurements; times in milliseconds. */
export type Load = { requests: number; perSecond: number; p50: number; p95: number; p99: number };

/** A program: runs each task of its parent, and sends the Load back. */
process.on('message', (task: Task) => void shoot(task).then((load) => process.send?.(load)));
process.once('disconnect', () => process.exit());

async function shoot(task: Task): Promise<Load> {
  const times: number[] = [];
  const startedAt = performance.now();
  let ended = startedAt;
  const {
    '4xx': refused,
    '5xx': failed,
    errors,
  } = await new Promise<autocannon.Result>((resolve, reject) => {
    const shooting = autocannon({ ...task, timeout: 30 }, (error, result) =>
      error ? reject(error) : resolve(result),
    );
    shooting.on('response', (_client, _status, _bytes, milliseconds) => {
      times.push(milliseconds);
      // autocannon reports only at the next full second.
      ended = performance.now();
    });
  });
  const taken = (ended - startedAt) / 1000;
  if (refused + failed + errors > 0) {
    throw new Error(`${task.url}: ${refused + failed} error responses, ${errors} errors`);
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(part * sorted.length)] ?? Number.NaN;
  return {
    requests: times.length,
    perSecond: times.length / taken,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
  };
}
