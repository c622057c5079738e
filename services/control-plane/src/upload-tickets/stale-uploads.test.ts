import { sourceKey } from '@framelane/object-store/object-keys';
import { expect, test } from '@jest/globals';
import { abortStaleUploads } from './stale-uploads.ts';

const HOUR_MS = 3600 * 1000;

test('aborts uploads older than two days, except those whose transfer may continue', async () => {
  const keys = [sourceKey('ws_1', 'vid_1', 'xfr_slow'), sourceKey('ws_1', 'vid_1', 'xfr_dead'), 'elsewhere'];
  const stale: string[] = [];
  let ageMs = 0;
  const objects = {
    abortStaleUploads: async (before: Date, isLive: (key: string) => Promise<boolean>) => {
      ageMs = Date.now() - before.getTime();
      for (const key of keys) if (!(await isLive(key))) stale.push(key);
      return stale.length;
    },
  };
  const mayContinue = async (transfer: { videoId: string; transferId: string }) =>
    transfer.videoId === 'vid_1' && transfer.transferId === 'xfr_slow';

  await abortStaleUploads(objects, { mayContinue });

  expect(stale).toEqual([sourceKey('ws_1', 'vid_1', 'xfr_dead'), 'elsewhere']);
  expect(ageMs / HOUR_MS).toBeCloseTo(48, 1);
});
