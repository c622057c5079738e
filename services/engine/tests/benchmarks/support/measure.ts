import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** What some work cost: CPU time and memory of this process and of all it started. */
export type Cost = { cpuSeconds: number; wallSeconds: number; peakRssBytes: number };

/** Times in /proc are in hundredths of a second, whatever the kernel's own clock is. */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 250;

/**
 * Measures work whose child processes have all ended when it is done: only then does the kernel add their times to
 * ours. Memory is the sum of what each process held at most until then, looked at now and then.
 */
export async function measure(work: () => Promise<unknown>): Promise<Cost> {
  const done = new AbortController();
  const peak = peakMemory(done.signal);
  const cpuBefore = await cpuSeconds();
  const begin = performance.now();
  try {
    await work();
    const wallSeconds = (performance.now() - begin) / 1000;
    const spent = (await cpuSeconds()) - cpuBefore;
    done.abort();
    return { cpuSeconds: spent, wallSeconds, peakRssBytes: await peak };
  } finally {
    done.abort();
  }
}

/** Of this process, and of the children that have ended, with theirs. */
async function cpuSeconds(): Promise<number> {
  const ticks = fieldsOf(await readFile('/proc/self/stat', 'utf8'))
    .slice(11, 15)
    .map(Number);
  return ticks.reduce((sum, time) => sum + time, 0) / TICKS_PER_SECOND;
}

/** The fields of a stat line from the third on; the second may hold spaces. */
function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function peakMemory(signal: AbortSignal): Promise<number> {
  let peak = 0;
  while (!signal.aborted) {
    peak = Math.max(peak, await memoryOfTree(process.pid));
    await delay(SAMPLE_MS);
  }
  return peak;
}

/** A process that ends meanwhile counts as nothing. */
async function memoryOfTree(pid: number): Promise<number> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmHWM:\s*(\d+)/m.exec(await read('status')) ?? [];
  const children = (await read(`task/${pid}/children`)).split(' ').filter((child) => child !== '');
  let bytes = Number(kilobytes ?? 0) * 1024;
  for (const child of children) bytes += await memoryOfTree(Number(child));
  return bytes;
}
