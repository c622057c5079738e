import { SealingKeys } from '@framelane/contracts/sealing';
import { joseHeader } from '../jose-header.ts';
import { expectThat } from '../promises.ts';
import type { Target } from '../target.ts';

const KEYS = new SealingKeys(new Uint8Array(32).fill(7));
const SEALED = await KEYS.seal(Buffer.from('secret'));

export const target: Target = {
  maxBytes: 600,
  steps: { fixed: 3_000, perByte: 20 },
  libraries: ['jose'],
  dictionary: [
    '.',
    '..',
    joseHeader({ alg: 'none' }),
    joseHeader({ alg: 'dir', enc: 'A256GCM' }),
    joseHeader({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' }),
    ...SEALED.split('.'),
  ],
  // The initialization vector is random, so a kept input would not open.
  seeds: [SEALED],
  run: async (input) => {
    const sealed = input.toString();
    const opened = await KEYS.open(sealed).catch((error: unknown) => {
      expectThat(error instanceof Error, 'each refusal is an Error');
      return null;
    });
    expectThat(opened === null || opened.toString() === 'secret', 'nobody else seals values');
  },
};
