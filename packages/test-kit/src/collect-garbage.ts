import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Frees all memory of this process that nothing refers to, before it returns. */
export const collectGarbage: () => void = runInNewContext('gc');
