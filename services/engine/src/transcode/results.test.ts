import { createLogger } from '@framelane/service-kit/logger';
import { expect, test } from '@jest/globals';
import { claimWhenAvailable } from './results.ts';
import { WorkObsoleteError } from './work-lease.ts';

test('a claim that waits for the control plane ends with the reason of the signal', async () => {
  const stopping = new AbortController();
  const claim = async () => {
    setImmediate(() => stopping.abort(new WorkObsoleteError('The video was deleted')));
    throw new Error('The control plane is unreachable');
  };
  const logger = createLogger({ service: 'test', level: 'silent' });
  const claimed = claimWhenAvailable(claim, { videoId: 'vid_1', logger, signal: stopping.signal });
  await expect(claimed).rejects.toThrow(WorkObsoleteError);
});
