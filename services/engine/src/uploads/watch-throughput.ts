import type { Problem } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import { repeat } from '../repeat.ts';
import { THROUGHPUT_SECONDS, type ThroughputLimit } from './throughput-limit.ts';
import { storageFailed, uploadTimeout } from './upload-problems.ts';

/**
 * Watches the throughput of a request body with `limit`, and calls `onProblem` when the client is too slow. `backpressure` says whether the
 * engine has stopped reading; then the client is not at fault, and `onProblem` is called only if the object store is stuck.
 * Returns a function that ends the watch.
 */
export function watchThroughput(
  req: Request,
  limit: ThroughputLimit,
  { backpressure, onProblem }: { backpressure: () => boolean; onProblem: (problem: Problem) => void },
): () => void {
  // Body bytes that arrived together with the headers count in the first interval.
  let seen = req.socket.bytesRead - req.readableLength;
  return repeat(THROUGHPUT_SECONDS, async () => {
    if (req.readableEnded) return;
    const bytes = req.socket.bytesRead - seen;
    seen += bytes;
    const verdict = limit.observe({ seconds: THROUGHPUT_SECONDS, bytes, backpressure: backpressure() });
    if (verdict === 'idle') onProblem(uploadTimeout('No data arrived for too long.'));
    if (verdict === 'slow') onProblem(uploadTimeout('The upload was too slow.'));
    if (verdict === 'stuck') onProblem(storageFailed(new Error('The object store accepts no more bytes')));
  });
}
