import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Random } from '@framelane/test-kit/random';

/**
 * Replaces the random numbers of this Node process by those of a seed: ids, tokens, keys and pauses are the same in each run. Import the code
 * under test afterwards.
 */
export function installSeededRandomness(random: Random): void {
  const fill = <T extends NodeJS.ArrayBufferView>(view: T): T => {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let at = 0; at < bytes.length; at += 1) bytes[at] = random.below(256);
    return view;
  };
  const randomBytes = (size: number) => fill(Buffer.alloc(size));
  const replaced = {
    randomBytes,
    randomFillSync: fill,
    randomInt: (first: number, second?: number) =>
      second === undefined ? random.below(first) : first + random.below(second - first),
    randomUUID: () => {
      const hex = randomBytes(16).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
  };
  Object.assign(crypto, replaced);
  Math.random = () => random.fraction();
  globalThis.crypto.getRandomValues = fill as typeof globalThis.crypto.getRandomValues;
  globalThis.crypto.randomUUID = replaced.randomUUID as typeof globalThis.crypto.randomUUID;
  syncBuiltinESMExports();
}
