import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CORPORA = join(import.meta.dirname, '../corpora');

/** The names of files that the search has written. Files with other names are failures that were found, and stay. */
const GENERATED = /^[0-9a-f]{12}$/;

export type KeptInput = { name: string; input: Buffer };

/** The kept inputs of a target. */
export function readCorpus(target: string): KeptInput[] {
  const folder = folderOf(target);
  return readdirSync(folder)
    .toSorted()
    .map((name) => ({ name, input: readFileSync(join(folder, name)) }));
}

/** Replaces the inputs that a search has written. */
export function writeCorpus(target: string, inputs: readonly Buffer[]): void {
  const folder = folderOf(target);
  for (const name of readdirSync(folder)) if (GENERATED.test(name)) rmSync(join(folder, name));
  for (const input of inputs) writeFileSync(join(folder, hashOf(input)), input);
}

/** Keeps an input that fails. Returns its path: rename it for what it shows. */
export function writeFailure(target: string, input: Buffer): string {
  const path = join(folderOf(target), `failure-${hashOf(input)}`);
  writeFileSync(path, input);
  return path;
}

function hashOf(input: Buffer): string {
  return createHash('sha256').update(input).digest('hex').slice(0, 12);
}

function folderOf(target: string): string {
  const folder = join(CORPORA, target);
  mkdirSync(folder, { recursive: true });
  return folder;
}
