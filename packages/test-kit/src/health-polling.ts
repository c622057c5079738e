import { setTimeout as delay } from 'node:timers/promises';
import { cpuMilliseconds } from './cpu-time.ts';

/** The longest time for a response of `/healthz`, in milliseconds. */
const LIMIT_MS = 100;

/** Milliseconds from a response to the next request. */
const PAUSE_MS = 5;

/** Optimisation of code and the collection of garbage can delay a response of one round. */
const ROUNDS = 3;

/**
 * Throws unless a service of this process responds to each request for `/healthz` within 100 ms while the work runs. The time of a request
 * begins with the response before it, so that no block is missed. It is CPU time of this thread, which other programs on the machine do not
 * lengthen: it notices an event loop that works for too long, and not one that waits. The work runs again until no response is late, up
 * to three times.
 */
export async function requireHealthy(serviceUrl: string, work: () => Promise<unknown>): Promise<void> {
  const late: number[] = [];
  while (late.length < ROUNDS) {
    const longest = await longestResponse(`${serviceUrl}/healthz`, work);
    if (longest < LIMIT_MS) return;
    late.push(Math.round(longest));
  }
  throw new Error(`In each round, a response of /healthz was late: after ${late.join(', ')} ms of CPU time`);
}

/** The longest time until a response arrived completely, in milliseconds. */
async function longestResponse(url: string, work: () => Promise<unknown>): Promise<number> {
  let isWorking = true;
  const request = async () => {
    const response = await fetch(url);
    await response.arrayBuffer();
    if (response.status !== 200) throw new Error(`${url} responds with ${response.status}`);
  };
  const poll = async () => {
    let longest = 0;
    const next = async () => {
      await delay(PAUSE_MS);
      await request();
    };
    while (isWorking) longest = Math.max(longest, await cpuMilliseconds(next));
    return longest;
  };
  const workAndEnd = async () => {
    try {
      await work();
    } finally {
      isWorking = false;
    }
  };
  // The first request opens the connection.
  await request();
  const [polled, worked] = await Promise.allSettled([poll(), workAndEnd()]);
  if (worked.status === 'rejected') throw worked.reason;
  if (polled.status === 'rejected') throw polled.reason;
  return polled.value;
}
