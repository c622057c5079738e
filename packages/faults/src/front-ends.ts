import { join } from 'node:path';
import { runProgram } from '@framelane/test-kit/run-program';

const ROOT = join(import.meta.dirname, '../../..');

/** Builds pages that control planes serve, unless their build exists. */
export async function buildFrontEnd(name: 'console' | 'player'): Promise<void> {
  const build = join(ROOT, 'packages/web-build/src/main.ts');
  await runProgram(process.execPath, [build, join(ROOT, 'services', name)]);
}
