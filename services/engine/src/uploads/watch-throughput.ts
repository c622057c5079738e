import type { Problem } from '@framelane/service-kit/problem';
import type { Request } from 'express';
import type { UploadLimits } from '../config.ts';
import { repeat } from '../repeat.ts';
import { THROUGHPUT_SECONDS, ThroughputLimit } from './throughput-limit.ts';
import { storageFailed, uploadTimeout } from './upload-problems.ts';

/**
 * Calls `onProblem` when the body of a request arrives too slowly, unless the engine has stopped reading: then it has
 * `backpressure`. Returns a function that stops this.
 */
export function watchThroughput(
  req: Request,
  limits: UploadLimits,
  { backpressure, onProblem }: { backpressure: () => boolean; onProblem: (problem: Problem) => void },
): () => void {
  const limit = new ThroughputLimit(limits);
  // Bytes that arrived together with the headers count as received now.
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
