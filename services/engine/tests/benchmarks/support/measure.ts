import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/** CPU time, duration and memory of some work, of this process and all its children. */
export type Cost = { cpuSeconds: number; wallSeconds: number; peakRssBytes: number };

/** /proc reports times in hundredths of a second (USER_HZ). */
const TICKS_PER_SECOND = 100;
const SAMPLE_MS = 250;

/**
 * Measures work. All its child processes must have ended when it resolves: the kernel adds their CPU times only then. The
 * memory is the sum of the peaks of all processes, sampled every 250 ms.
 */
export async function measure(work: () => Promise<unknown>): Promise<Cost> {
  const done = new AbortController();
  const peak = peakMemory(done.signal);
  const cpuBefore = await cpuSeconds();
  const startedAt = performance.now();
  try {
    await work();
    const wallSeconds = (performance.now() - startedAt) / 1000;
    const spent = (await cpuSeconds()) - cpuBefore;
    done.abort();
    return { cpuSeconds: spent, wallSeconds, peakRssBytes: await peak };
  } finally {
    done.abort();
  }
}

/** CPU time of this process and of all its ended descendants. */
async function cpuSeconds(): Promise<number> {
  const ticks = fieldsOf(await readFile('/proc/self/stat', 'utf8'))
    .slice(11, 15)
    .map(Number);
  return ticks.reduce((sum, time) => sum + time, 0) / TICKS_PER_SECOND;
}

/** The fields of a stat line from the third on. The second one may contain spaces. */
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

/** Peak memory of a process and its descendants. A process that has ended counts as zero. */
async function memoryOfTree(pid: number): Promise<number> {
  const read = (name: string) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
  const [, kilobytes] = /^VmHWM:\s*(\d+)/m.exec(await read('status')) ?? [];
  const children = (await read(`task/${pid}/children`)).split(' ').filter((child) => child !== '');
  let bytes = Number(kilobytes ?? 0) * 1024;
  for (const child of children) bytes += await memoryOfTree(Number(child));
  return bytes;
}
