import { toPage } from '@framelane/control-plane/db/keyset-page';
import { readCursor } from '@framelane/control-plane/http/pagination';
import { Problem } from '@framelane/service-kit/problem';
import { JSON_WORDS } from '../json-words.ts';
import { expectSame, refusedWith } from '../promises.ts';
import type { Target } from '../target.ts';

/** The cursor of a page as clients send it. Each run reads it as it is and encoded. */
export const target: Target = {
  maxBytes: 300,
  steps: { fixed: 1_000, perByte: 10 },
  dictionary: [
    ...JSON_WORDS,
    '["2026-01-01T00:00:00.000Z","vid_1"]',
    '+00:00',
    '9999-12-31T23:59:59.999Z',
    '0000-01-01T00:00:00Z',
    'T24:00:00Z',
    '23:59:60Z',
  ],
  seeds: ['["2026-01-01T00:00:00.000Z","vid_1"]', 'WyIyMDI2LTAxLTAxVDAwOjAwOjAwLjAwMFoiLCJ2aWRfMSJd'],
  run: (input) => {
    for (const cursor of [input.toString(), input.toString('base64url')]) {
      const position = refusedWith([Problem], () => readCursor(cursor));
      if (position === undefined) continue;
      const row = { id: position.id, created_at: position.createdAt };
      const { nextCursor } = toPage([row, row], 1, () => null);
      expectSame(readCursor(nextCursor ?? ''), position, 'the cursor of a position leads to it');
    }
  },
};
