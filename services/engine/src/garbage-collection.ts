import { setFlagsFromString } from 'node:v8';

/** The first V8 that knows the flag. */
const FIRST_V8 = 13;

/**
 * Lets buffers count as a part of the heap when V8 decides whether to collect garbage. Otherwise it marks everything
 * alive after each few megabytes of buffers, and an upload is nothing but buffers: that took 40 % of its CPU time.
 */
export function countBuffersAsHeap(): void {
  if (Number.parseInt(process.versions.v8, 10) < FIRST_V8) return;
  setFlagsFromString('--external-memory-accounted-in-global-limit');
}
