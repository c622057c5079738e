import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { runProgram } from './run-program.ts';

test('ports that cannot be reserved are an error, and not retried for ever', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-free-ports-'));
  try {
    // Nobody can create a file there, not even root.
    await symlink('/proc', join(directory, 'framelane-test-ports'));
    const module = join(import.meta.dirname, 'free-ports.ts');
    const program = `import { freePorts } from ${JSON.stringify(module)}; await freePorts(1);`;
    const reserving = runProgram('timeout', ['20', process.execPath, '--input-type=module', '-e', program], {
      env: { TMPDIR: directory },
    });
    await expect(reserving).rejects.toThrow('framelane-test-ports');
  } finally {
    await rm(directory, { recursive: true });
  }
});
