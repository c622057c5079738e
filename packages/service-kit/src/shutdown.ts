import pTimeout from 'p-timeout';
import type { Logger } from './logger.ts';
import { exitProcess } from './thread-pool.ts';

/** One phase of an ordered stop. If it fails or exceeds `limitMs`, that is logged and the next phase runs. */
export type StopPhase = { name: string; limitMs: number; run: () => Promise<void> };

/** Runs the phases one after another. No phase can keep the later ones from running. */
export async function stopInOrder(phases: readonly StopPhase[], logger: Logger): Promise<void> {
  for (const phase of phases) {
    try {
      await pTimeout(phase.run(), { milliseconds: phase.limitMs });
    } catch (error) {
      logger.error('shutdown.phase_failed', { phase: phase.name, error });
    }
  }
}

/**
 * The terminal sends Ctrl-C to npm and to this process, and npm forwards it: a signal within this time is the same one.
 */
const SAME_SIGNAL_MS = 1_000;

/** Resolves at the first SIGINT or SIGTERM. A second signal ends the process within a second. */
export function stopSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals) => {
      const now = performance.now();
      firstAt ??= now;
      if (now - firstAt > SAME_SIGNAL_MS) void exitProcess(1);
      resolve(signal);
    };
    process.on('SIGINT', onSignal);
    process.on('SIGTERM', onSignal);
  });
}
