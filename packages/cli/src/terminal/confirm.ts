import { createInterface } from 'node:readline/promises';
import { CliError, UsageError } from '../cli-error.ts';
import type { Host } from '../host.ts';

/** Asks a question. Throws unless the answer is yes. Without a terminal nobody can answer, so the option `--yes` is required. */
export async function confirm(question: string, { stdin, isTerminal, signal }: Host): Promise<void> {
  if (!isTerminal || stdin.isTTY !== true)
    throw new UsageError('Nobody can be asked here. Add --yes to confirm.');
  const lines = createInterface({ input: stdin, output: process.stderr });
  try {
    const answer = await lines.question(`${question} [y/N] `, { signal });
    if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('Nothing was changed.');
  } finally {
    lines.close();
  }
}
