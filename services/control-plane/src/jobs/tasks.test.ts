import { sourceKey } from '@framelane/object-store/object-keys';
import { expect, test } from '@jest/globals';
import { createTasks } from './tasks.ts';

test('however old an upload is, it is not stale while its transfer has the ticket', async () => {
  const keys = [sourceKey('ws_1', 'vid_1', 'xfr_slow'), sourceKey('ws_1', 'vid_1', 'xfr_dead'), 'elsewhere'];
  const stale: string[] = [];
  const tasks = createTasks({
    objects: {
      abortStaleUploads: async (_before: Date, isLive: (key: string) => Promise<boolean>) => {
        for (const key of keys) if (!(await isLive(key))) stale.push(key);
        return stale.length;
      },
    },
    tickets: {
      isWanted: async (transfer: { videoId: string; transferId: string }) =>
        transfer.videoId === 'vid_1' && transfer.transferId === 'xfr_slow',
    },
  } as unknown as Parameters<typeof createTasks>[0]);

  await tasks['abort-stale-uploads']({});

  expect(stale).toEqual([sourceKey('ws_1', 'vid_1', 'xfr_dead'), 'elsewhere']);
});
