import { readdirSync } from 'node:fs';
import type { Target } from './target.ts';

const FOLDER = new URL('targets/', import.meta.url);

/** The names of all targets: on the command line, and of the folders with their inputs. */
export const TARGETS: readonly string[] = readdirSync(FOLDER)
  .map((file) => file.replace(/\.ts$/, ''))
  .toSorted();

/** Loads one target. Reading the counters of V8 takes longer the more code is loaded. */
export async function loadTarget(name: string): Promise<Target> {
  const { target } = (await import(new URL(`${name}.ts`, FOLDER).href)) as { target: Target };
  return target;
}
