import { chmod, copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { runProgram } from '@framelane/test-kit/run-program';

/**
 * What the fake does: nothing else than a device that works, or
 * - `says`: fails with this message, `job-says`: the same in jobs, but not in probes,
 * - `sessions`: encodes at most this many renditions at a time,
 * - `no-b-frames`, `low-power-only`: refuses the best variant,
 * - `ignores-key-frames`, `open-gop`: makes no segments that players can begin at,
 * - `green`: encodes other pictures than it gets, `level`: declares this level,
 * - `loses-frames`: ends a job after this many frames without an error,
 * - `dies`: in a job, when the first segment is complete.
 */
export type Behaviour = Partial<
  Record<'says' | 'job-says' | 'level', string> &
    Record<'sessions' | 'loses-frames', number> &
    Record<'no-b-frames' | 'low-power-only' | 'ignores-key-frames' | 'open-gop' | 'green' | 'dies', true>
>;

/** A character device that every machine has. The fake only looks whether it is one. */
export const FAKE_DEVICE = '/dev/full';

/** An ffmpeg with a device, first in PATH. Sandboxes hide it, so it needs `sandbox: 'none'`. */
export class FakeDeviceFfmpeg {
  readonly #folder: string;
  readonly #path = process.env.PATH;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async install(): Promise<FakeDeviceFfmpeg> {
    const folder = await mkdtemp(join(tmpdir(), 'fake-device-'));
    // If the engine is root, ffmpeg runs as another user.
    await chmod(folder, 0o777);
    const program = join(folder, 'ffmpeg');
    await copyFile(join(import.meta.dirname, 'fake-device.pl'), program);
    await chmod(program, 0o755);
    const { stdout: real } = await runProgram('/bin/sh', ['-c', 'command -v ffmpeg']);
    await symlink(real.trim(), join(folder, 'real'));
    const fake = new FakeDeviceFfmpeg(folder);
    process.env.PATH = `${folder}${delimiter}${process.env.PATH}`;
    return fake;
  }

  async uninstall(): Promise<void> {
    process.env.PATH = this.#path;
    await rm(this.#folder, { recursive: true });
  }

  /** Changes what the fake does from its next start on, and forgets its earlier starts. */
  async behave(behaviour: Behaviour): Promise<void> {
    const lines = Object.entries(behaviour).map(([word, value]) =>
      value === true ? word : `${word} ${String(value).replaceAll('\n', String.raw`\n`)}`,
    );
    await writeFile(join(this.#folder, 'behaviour'), `${lines.join('\n')}\n`);
    await rm(join(this.#folder, 'commands'), { force: true });
  }

  /** The arguments of its starts with a device since `behave`. */
  async commands(): Promise<string[][]> {
    const text = await readFile(join(this.#folder, 'commands'), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => line.split('\t'));
  }
}
