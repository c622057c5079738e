import { parseMessage } from '@framelane/contracts/messages';
import { ZodError } from 'zod';
import { JSON_WORDS } from '../json-words.ts';
import { expectSame, refusedWith } from '../promises.ts';
import type { Target } from '../target.ts';

const TASK = { videoId: 'vid_1', attempt: 1, task: 0, try: 1 };
const message = (type: string, data: object) =>
  JSON.stringify({ id: 'msg_1', type, version: 1, occurredAt: '2026-01-01T00:00:00.000Z', data });

/** A message of RabbitMQ. */
export const target: Target = {
  maxBytes: 2048,
  steps: { fixed: 2_000, perByte: 20 },
  libraries: ['zod'],
  dictionary: [
    ...JSON_WORDS,
    '"videoId":"v"',
    '"type":"plan"',
    '"type":"task.completed"',
    '"fraction":',
    '"renditions":',
    '"result":',
    '"segments":',
    '"version":1',
    '"epoch":1',
  ],
  seeds: [
    message('plan', {
      videoId: 'vid_1',
      workspaceId: 'ws_1',
      inputBytes: 1,
      waitingSince: '2026-01-01T00:00:00.000Z',
    }),
    message('upload.completed', { videoId: 'vid_1', transferId: 't', epoch: 1, bytes: 1, sha256: null }),
    message('task.progress', {
      ...TASK,
      fraction: 0.5,
      startedRenditions: { '720p': { codecs: 'avc1.64001f', initialization: 'AAAA' } },
    }),
    message('task.failed', { ...TASK, code: 'transcode_failed', message: 'A.', retryable: true }),
    message('task.completed', {
      ...TASK,
      result: {
        renditions: [
          { name: '720p', codecs: 'avc1.64001f', first: 0, segments: [{ start: 1.4, bytes: 188 }] },
        ],
      },
    }),
  ],
  run: (input) => {
    const read = refusedWith([SyntaxError, ZodError], () => parseMessage(JSON.parse(input.toString())));
    if (read === undefined) return;
    expectSame(
      parseMessage(JSON.parse(JSON.stringify(read))),
      read,
      'a message does not change when it is sent on',
    );
  },
};
