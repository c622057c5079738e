import { explain } from '../explain.ts';
import type { Output } from '../output.ts';

/** Reports a request that failed and will be repeated. */
export function noteTrouble(output: Output): (error: unknown) => void {
  return (error) => output.note(`${explain(error)} Trying again.`);
}
