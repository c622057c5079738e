import type { CommandType } from '@framelane/contracts/messages';
import type { EngineMetrics } from '../metrics/engine-metrics.ts';

/** The source of a command does not fit on the disk of this engine. The command is requeued, and this engine stops consuming briefly. */
export class InsufficientDiskSpaceError extends Error {
  override name = 'InsufficientDiskSpaceError';
}

/**
 * Leaves a command whose source does not fit on the disk to other engines. The first time it is requeued. A command that has been
 * requeued before is dropped; the control plane sends a new one later, as for every task that nobody claims.
 */
export function leaveToOthers(
  command: CommandType,
  redelivered: boolean,
  { metrics }: { metrics: Pick<EngineMetrics, 'sourceDidNotFit'> },
): void {
  metrics.sourceDidNotFit(command);
  if (!redelivered) {
    throw new InsufficientDiskSpaceError('Too little disk space for this source; the command is requeued');
  }
}
