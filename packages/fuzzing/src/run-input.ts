import { join } from 'node:path';
import { BlockCoverage, projectCode, type Reached } from './block-coverage.ts';
import { stepLimit, type Target } from './target.ts';

/** The folder of the project. */
const ROOT = join(import.meta.dirname, '../../..');

/** Why an input fails. */
export type Failure = { input: Buffer; reason: string };

/** Starts to measure the code of a target. */
export async function coverageOf({ libraries }: Target): Promise<BlockCoverage> {
  return BlockCoverage.start(projectCode(ROOT, libraries));
}

/** Runs an input. Resolves with the reason if the parser breaks a promise. */
export async function reasonOf(target: Target, input: Buffer): Promise<string | null> {
  try {
    await target.run(Buffer.from(input));
    return null;
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
}

/** The same, and what it reached since `coverage` was read. Too many steps are a reason, too. */
export async function measure(
  target: Target,
  input: Buffer,
  coverage: BlockCoverage,
): Promise<{ reached: Reached; reason: string | null }> {
  const reason = await reasonOf(target, input);
  const reached = await coverage.take();
  return { reached, reason: reason ?? tooManySteps(target, input, reached) };
}

function tooManySteps(target: Target, { length }: Buffer, { steps }: Reached): string | null {
  const limit = stepLimit(target, length);
  return steps > limit ? `${steps} steps for ${length} bytes, more than ${limit}` : null;
}

/** Names a failure, so that a shorter input can be compared with a longer one: its first line without numbers. */
export function kindOf(reason: string): string {
  return (reason.split('\n')[0] ?? '').replaceAll(/\d+/g, '#').slice(0, 60);
}
