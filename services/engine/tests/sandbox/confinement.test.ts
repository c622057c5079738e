import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmod,
  chown,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { ensureSystemAccount } from '@framelane/service-kit/system-account';
import { processesUsing } from '@framelane/test-kit/processes';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessToDevice, type DeviceAccess } from '../../src/sandbox/device-access.ts';
import { grantFile, grantFolder } from '../../src/sandbox/job-folder.ts';
import { type Confinement, writeLaunchScript } from '../../src/sandbox/launch-script.ts';
import { runTool } from '../../src/sandbox/run-tool.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../../src/transcode-settings.ts';
import { LANDLOCK_STAND_IN, workingSandboxes } from '../support/sandboxes.ts';

const MIB = 1024 ** 2;
/** A value in the environment of the engine. */
const SECRET = 'of the engine';
const LIMITS = { ...DEFAULT_TRANSCODE_LIMITS, addressSpaceBytes: 512 * MIB, fileBytes: MIB };
const IS_ROOT = process.getuid?.() === 0;
/** The user of an engine that is not root, if the tests run as root. */
const ENGINE_USER = 65_534;

type Sandbox = Confinement['sandbox'];
type Engine = 'root' | 'a user';

const sandboxes = workingSandboxes({ standIn: true });
const engines: Engine[] = IS_ROOT ? ['root', 'a user'] : ['a user'];
const cases = sandboxes.flatMap((sandbox) => engines.map((engine) => ({ sandbox, engine })));
const confined = cases.filter(({ sandbox }) => sandbox !== 'none');
const inBubblewrap = cases.filter(({ sandbox }) => sandbox === 'bubblewrap');

/** `describe.each`, except that it does nothing without cases, as on a machine where no sandbox works. `describe.each` fails then. */
function describeEach(some: Case[]): (name: string, tests: (where: Case) => void) => void {
  return some.length === 0 ? () => {} : describe.each(some);
}

/** The command that starts a program as the engine's user; empty if that is the user of the tests. */
function asEngine(engine: Engine): string[] {
  if (!IS_ROOT || engine === 'root') return [];
  return ['setpriv', `--reuid=${ENGINE_USER}`, `--regid=${ENGINE_USER}`, '--clear-groups'];
}

/** A job's directory for each kind of engine. It contains the file `secret`, which the job must not reach. */
const directories = {} as Record<Engine, string>;
/** A process of each kind of engine, which the job must not reach. */
const victims = {} as Record<Engine, ChildProcess>;
let media: Confinement['account'] = null;
beforeAll(async () => {
  if (IS_ROOT) media = await ensureSystemAccount('framelane-ffmpeg');
  for (const engine of engines) {
    const directory = await mkdtemp(join(tmpdir(), 'confinement-'));
    directories[engine] = directory;
    await mkdir(join(directory, 'source'));
    await mkdir(join(directory, 'output'));
    await writeFile(join(directory, 'secret'), 'of another tenant', { mode: 0o600 });
    await writeFile(join(directory, 'source', 'file'), 'a video', { mode: 0o600 });
    if (engine === 'root') {
      await grantFolder(directory, 'pass', media);
      await grantFolder(join(directory, 'source'), 'read', media);
      await grantFolder(join(directory, 'output'), 'write', media);
      await grantFile(join(directory, 'source', 'file'), media);
    } else if (IS_ROOT) {
      await promisify(execFile)('chown', ['-R', `${ENGINE_USER}:${ENGINE_USER}`, directory]);
    }
    const [command = 'sleep', ...args] = [...asEngine(engine), 'sleep', '600'];
    const env = { ...process.env, SECRET };
    victims[engine] = spawn(command, args, { env, stdio: 'ignore' });
  }
});
afterAll(async () => {
  for (const engine of engines) {
    victims[engine]?.kill('SIGKILL');
    await rm(directories[engine], { recursive: true });
  }
});

const scriptPath = ({ sandbox, engine }: Case) => join(directories[engine], `script-${sandbox}`);

/** Confines a program as that kind of engine does. Resolves with the command line that starts it. */
async function confine(
  { sandbox, engine }: Case,
  program: string,
  {
    limits = LIMITS,
    enginePid,
    device,
  }: { limits?: Confinement['limits']; enginePid?: number | undefined; device?: DeviceAccess } = {},
): Promise<string[]> {
  const script = scriptPath({ sandbox, engine });
  const account = engine === 'root' ? media : null;
  await writeLaunchScript(script, program, { sandbox, limits, account, device }, enginePid);
  if (sandbox === 'landlock' && LANDLOCK_STAND_IN) await useStandIn(script, LANDLOCK_STAND_IN);
  if (IS_ROOT && engine === 'a user') await chown(script, ENGINE_USER, ENGINE_USER);
  return [...asEngine(engine), script];
}

/** A copy of the stand-in, as the engine's user may have no access to this repository. */
async function useStandIn(script: string, standIn: string): Promise<void> {
  const copy = `${script}.setpriv`;
  await copyFile(standIn, copy);
  await chmod(copy, 0o644);
  const text = await readFile(script, 'utf8');
  await writeFile(script, text.replace(' setpriv ', ` /usr/bin/perl ${copy} `));
}

type Case = { sandbox: Sandbox; engine: Engine };

async function run(
  { engine }: Case,
  [command = '', ...args]: string[],
  options: Partial<Parameters<typeof runTool>[2]>,
): Promise<void> {
  await runTool(command, args, {
    cwd: directories[engine],
    signal: new AbortController().signal,
    limitSeconds: 20,
    onLine: () => {},
    ...options,
  });
}

/** The output of a confined Perl program. Unlike a shell, Perl needs no other processes for most tasks. */
async function perl(where: Case, program: string, limits = LIMITS, device?: DeviceAccess): Promise<string> {
  const lines: string[] = [];
  const command = await confine(where, '/usr/bin/perl', { limits, ...(device && { device }) });
  await run(where, [...command, '-e', program], { onLine: (line) => lines.push(line) });
  return lines.join('\n');
}

/** The lines that a confined Perl program prints. The launch script and its parent have a secret in their environment. */
async function perlOfParent(where: Case, program: string): Promise<string[]> {
  const { engine } = where;
  const script = scriptPath(where);
  const start = [...asEngine(engine), '/bin/sh', '-c', 'read go; "$0" -e "$1"; exit $?', script, program];
  const [command = '', ...args] = start;
  const parent = spawn(command, args, {
    cwd: directories[engine],
    env: { ...process.env, SECRET },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await confine(where, '/usr/bin/perl', { enginePid: parent.pid });
  parent.stdin.end('go\n');
  const stdout = await text(parent.stdout);
  return stdout.split('\n');
}

const READ = 'sub read_file { open(my $f, "<", shift) or return "none"; local $/; <$f> }';
const WRITE = 'sub can_write { open(my $f, ">", shift) ? "yes" : "no" }';
/** Makes a system call; evaluates to the text of the error, or to the return value. */
const CALL = 'sub call { my ($n, @a) = @_; my $r = syscall($n, @a); $r < 0 ? "$!" : $r }';
const DENIED = 'Operation not permitted';

/** Numbers of system calls without a Perl function. */
const NUMBERS = {
  x64: {
    capget: 125,
    getrlimit: 97,
    memfd: 319,
    prctl: 157,
    prlimit: 302,
    ptrace: 101,
    readMemory: 310,
    fcntl: 72,
    ioctl: 16,
    mqUnlink: 241,
    renameat2: 316,
    robustList: 274,
    setxattr: 188,
    bind: 49,
    listen: 50,
    accept: 43,
    accept4: 288,
    connect: 42,
    sendmsg: 46,
    sendmmsg: 307,
    syslog: 103,
  },
  arm64: {
    capget: 90,
    getrlimit: 163,
    memfd: 279,
    prctl: 167,
    prlimit: 261,
    ptrace: 117,
    readMemory: 270,
    fcntl: 25,
    ioctl: 29,
    mqUnlink: 181,
    renameat2: 276,
    robustList: 100,
    setxattr: 5,
    bind: 200,
    listen: 201,
    accept: 202,
    accept4: 242,
    connect: 203,
    sendmsg: 211,
    sendmmsg: 269,
    syslog: 116,
  },
};
const number = NUMBERS[process.arch as keyof typeof NUMBERS];

test('a launch script gets only the PATH of the engine', async () => {
  process.env.FRAMELANE_TEST_SECRET = SECRET;
  const lines: string[] = [];
  await run({ sandbox: 'none', engine: 'a user' }, ['/usr/bin/env'], { onLine: (line) => lines.push(line) });
  expect(lines).toEqual([`PATH=${process.env.PATH}`]);
});

describe.each(cases)('a program confined with sandbox $sandbox by an engine of $engine', (where) => {
  const { sandbox, engine } = where;

  test('sees nothing of the environment', async () => {
    const variables = `${READ} print join "\\n", map({ "$_=$ENV{$_}" } keys %ENV), split(/\\0/, read_file("/proc/self/environ"))`;
    const seen = (await perlOfParent(where, variables)).filter((line) => !/^(PWD=|none$)/.test(line));
    expect(new Set(seen)).toEqual(new Set(['LC_ALL=C', 'PATH=/usr/local/bin:/usr/bin:/bin']));
  });

  test('does not start unless its parent is the engine', async () => {
    const command = await confine(where, '/usr/bin/perl');
    const started = promisify(execFile)('sh', ['-c', '"$@" -e "print 1"; exit $?', 'sh', ...command]);
    const stderr = 'Only the engine that wrote this script can run it.\n';
    await expect(started).rejects.toMatchObject({ stdout: '', stderr });
  });

  test('reads the source and writes the output', async () => {
    const work =
      'open(my $f, ">", "output/y"); print $f "x"; close $f; print read_file("source/file"), read_file("output/y")';
    expect(await perl(where, `${READ} ${work}`)).toBe('a videox');
  });

  test('is at low priority and under limits', async () => {
    const limit =
      'sub limit { my $b = chr(0) x 16; syscall(shift, shift, $b) and return "?"; join "-", unpack("QQ", $b) }';
    const limits = { cpu: 0, file: 1, core: 4, memory: 9 };
    const list = Object.values(limits).map((at) => `limit(${number.getrlimit}, ${at})`);
    const printed = await perl(where, `${limit} print join " ", getpriority(0, 0), ${list.join(', ')}`);
    const { cpuSeconds, fileBytes, addressSpaceBytes } = LIMITS;
    const expected = [cpuSeconds, fileBytes, 0, addressSpaceBytes].map((value) => `${value}-${value}`);
    expect(printed).toBe([getPriority() + 10, ...expected].join(' '));
  });

  test('cannot allocate more memory than its limit', async () => {
    const allocate = (mib: number) => perl(where, `my $x = "x" x (${mib} * 1024 * 1024); print length $x`);
    expect(await allocate(64)).toBe(String(64 * MIB));
    await expect(allocate(1024)).rejects.toMatchObject({ stderr: expect.stringMatching(/out of memory/i) });
  });

  test('is killed when it writes a file above the size limit', async () => {
    const write =
      'open(my $f, ">", "output/large"); print $f "x" x 1024 for 1 .. 4096; close $f; print "done"';
    await expect(perl(where, write)).rejects.toMatchObject({ name: 'ToolError' });
  });

  test('is killed after its CPU time limit', async () => {
    await expect(perl(where, '1 while 1', { ...LIMITS, cpuSeconds: 1 })).rejects.toMatchObject({
      end: expect.stringMatching(/^(killed|sigkill)$/),
    });
  });

  test('is killed with its children when it hangs and ignores signals', async () => {
    const command = await confine(where, '/bin/sh');
    const child = sandbox === 'none' ? 'sleep 100 &' : '';
    const hang = [...command, '-c', `trap "" TERM; ${child} while :; do :; done`];
    await expect(run(where, hang, { limitSeconds: 0.5 })).rejects.toMatchObject({ end: 'timeout' });
    await until(async () => (await processesUsing(directories[engine])).length === 0);
  });

  test('is killed when it prints too much', async () => {
    const command = await confine(where, '/usr/bin/perl');
    let printed = 0;
    const onLine = (line: string) => {
      printed += line.length;
    };
    const talk = [...command, '-e', 'print "x" x 1000 while 1'];
    const options = { limitOutput: 100_000, onLine };
    await expect(run(where, talk, options)).rejects.toMatchObject({ end: 'output_limit' });
    expect(printed).toBeLessThan(MIB);
  });

  test('is not root, has no capability and cannot gain one', async () => {
    const user = engine === 'root' ? media : IS_ROOT ? { uid: ENGINE_USER, gid: ENGINE_USER } : null;
    const [uid, gid] = user ? [user.uid, user.gid] : [process.getuid?.(), process.getgid?.()];
    const ids = await perl(where, 'print "$< $> $( $)"');
    expect(new Set(ids.split(' '))).toEqual(new Set([String(uid), String(gid)]));
    const held =
      `my ($head, $held) = (pack("LL", 0x20080522, 0), chr(0) x 24); syscall(${number.capget}, $head, $held); ` +
      `print unpack("H*", $held), " ", syscall(${number.prctl}, 39, 0, 0, 0, 0)`;
    expect(await perl(where, held)).toBe(`${'0'.repeat(48)} 1`);
    if (engine === 'root') {
      const bounding = `print grep { syscall(${number.prctl}, 23, $_, 0, 0, 0) == 1 } 0 .. 63`;
      expect(await perl(where, bounding)).toBe('');
    }
  });

  test('inherits no descriptor but its output, and has an empty standard input', async () => {
    const open =
      'print join " ", map { open(my $f, "<&=", $_) ? join(":", $_, (stat $f)[0, 1]) : () } 3 .. 1023';
    // The caller of the tests may leave descriptors open for every program.
    const { stdout: leaked } = await promisify(execFile)('/usr/bin/perl', ['-e', open]);
    expect(await perl(where, open)).toBe(leaked);
    expect(await perl(where, 'print -c STDIN && !defined(<STDIN>) ? "empty" : "open"')).toBe('empty');
  });

  // Without a sandbox, programs of the engine's user can read its secrets: see docs/media-safety.md.
  const isProtected = sandbox !== 'none' || engine === 'root';
  (isProtected ? test : test.failing)('reads no secret of the engine', async () => {
    const { pid, exitCode, signalCode } = victims[engine];
    expect({ exitCode, signalCode }).toEqual({ exitCode: null, signalCode: null });
    const files = ['environ', 'mem', 'maps', 'auxv'].map((name) => `/proc/${pid}/${name}`);
    const read = files.map((file) => `read_file("${file}")`).join(', ');
    expect(await perl(where, `${READ} print join " ", ${read}`)).toBe('none none none none');
    const list = `print opendir(my $d, "/proc/${pid}/fd") ? "listed" : "none"`;
    expect(await perl(where, list)).toBe('none');
    expect(await perl(where, `${READ} print read_file("${directories[engine]}/secret")`)).toBe('none');
  });

  (isProtected ? test : test.failing)('reads no environment of the program that starts it', async () => {
    const files = 'map("/proc/$_/environ", 1, getppid()), glob("/proc/[0-9]*/environ")';
    const read = await perlOfParent(
      where,
      `${READ} print join "\\n", map { split /\\0/, read_file($_) } ${files}`,
    );
    expect(read.filter((line) => line.startsWith('SECRET='))).toEqual([]);
  });

  (isProtected ? test : test.failing)('reaches no other process', async () => {
    const { pid } = victims[engine];
    const attempts = [
      `call(${number.ptrace}, 16, ${pid}, 0, 0)`,
      `call(${number.readMemory}, ${pid}, pack("PQ", "x" x 8, 8), 1, pack("QQ", 4096, 8), 1, 0)`,
      `call(${number.prlimit}, ${pid}, 0, pack("QQ", 1, 1), 0)`,
      `kill(0, ${pid}) ? "sent" : "$!"`,
    ];
    const results = (await perl(where, `${CALL} print join "\n", ${attempts.join(', ')}`)).split('\n');
    for (const result of results) expect(result).toMatch(/^(Operation not permitted|No such process)$/);
  });
});

test('a program without the sandbox leads its own process group', async () => {
  const [engine = 'a user'] = engines;
  const [pid, , , , group] = (
    await perl({ sandbox: 'none', engine }, `${READ} print read_file("/proc/self/stat")`)
  ).split(' ');
  expect(group).toBe(pid);
});

test.each([
  ['/usr/bin/perl', false],
  // As for a link in /opt to a program elsewhere.
  ['/opt/../usr/bin/perl', true],
])('the sandbox of a program called as %s contains /opt: %s', async (program, isThere) => {
  const script = join(directories[engines[0] ?? 'a user'], 'script');
  await writeLaunchScript(script, program, { sandbox: 'bubblewrap', limits: LIMITS, account: null });
  expect((await readFile(script, 'utf8')).includes(' /opt /opt ')).toBe(isThere);
});

// Only root can create a device.
(IS_ROOT ? describe : describe.skip)('a device', () => {
  /** Of nobody else. */
  const GROUP = 54_321;
  const devices = {} as Record<Engine, DeviceAccess>;

  beforeAll(async () => {
    for (const engine of engines) {
      const folder = join(directories[engine], 'devices');
      await mkdir(join(folder, 'described'), { recursive: true });
      await writeFile(join(folder, 'described', 'vendor'), '0x8086');
      const file = join(folder, 'zero');
      await promisify(execFile)('mknod', ['-m', '660', file, 'c', '1', '5']);
      // The engine's user belongs to the group of its device. An engine that is root gives its programs the group.
      await chown(file, 0, engine === 'root' ? GROUP : ENGINE_USER);
      for (const path of [folder, join(folder, 'described')]) await chmod(path, 0o755);
      const missing = join(folder, 'missing');
      const readable = [join(folder, 'described'), missing];
      devices[engine] = await accessToDevice(file, { others: [missing], readable });
    }
  });

  const opened = (file: string) =>
    `my ($f, $b); print open($f, "+<", "${file}") && read($f, $b, 4) == 4 ? "opened" : "$!"`;

  test('is found with its files and its group', () => {
    for (const engine of engines) {
      const folder = join(directories[engine], 'devices');
      expect(devices[engine]).toEqual({
        files: [join(folder, 'zero')],
        readable: [join(folder, 'described')],
        links: [],
        groups: [engine === 'root' ? GROUP : ENGINE_USER],
      });
    }
  });

  // Not with `test.each`, which fails without cases.
  for (const where of cases) {
    const { sandbox, engine } = where;
    test(`is opened with ${sandbox} by a program of an engine of ${engine} that may use it`, async () => {
      const { files, readable } = devices[engine];
      expect(await perl(where, opened(files[0] ?? ''), LIMITS, devices[engine])).toBe('opened');
      const vendor = `${READ} print read_file("${readable[0]}/vendor")`;
      expect(await perl(where, vendor, LIMITS, devices[engine])).toBe('0x8086');
    });
  }

  for (const where of confined) {
    const { sandbox, engine } = where;
    test(`is not opened with ${sandbox} by other programs of an engine of ${engine}`, async () => {
      const { files, readable } = devices[engine];
      expect(await perl(where, opened(files[0] ?? ''))).toMatch(
        /^(No such file or directory|Permission denied)$/,
      );
      expect(await perl(where, `${READ} print read_file("${readable[0]}/vendor")`)).toBe('none');
    });
  }

  for (const where of inBubblewrap) {
    test(`is found by its link in bubblewrap of an engine of ${where.engine}`, async () => {
      const [target = ''] = devices[where.engine].readable;
      const links = [{ path: '/sys/dev/char/1:5', target }];
      const read = `${READ} print read_file("/sys/dev/char/1:5/vendor")`;
      expect(await perl(where, read, LIMITS, { ...devices[where.engine], links })).toBe('0x8086');
    });
  }
});

test.each([
  ['/dev/missing', '/dev/missing does not exist. In a container, pass the device on.'],
  ['/dev/null/', '/dev/null/ does not exist. In a container, pass the device on.'],
  ['/proc/self/status', '/proc/self/status is not a device.'],
])('the device %s is refused', async (path, message) => {
  await expect(accessToDevice(path, { others: [], readable: [] })).rejects.toThrow(message);
});

describeEach(confined)('the sandbox $sandbox of an engine of $engine', (where) => {
  const { sandbox, engine } = where;

  test('denies access to other files', async () => {
    const files = ['/etc/passwd', '/etc/hostname', '/proc/self/environ', '/proc/1/environ', '/sys/kernel/mm'];
    files.push(`${directories[engine]}/secret`, `${directories[engine]}/script-${sandbox}`);
    const read = files.map((file) => `read_file("${file}")`).join(', ');
    expect(await perl(where, `${READ} print join " ", ${read}`)).toBe(files.map(() => 'none').join(' '));
    const folders = ['/root', '/home', '/run', '/var', directories[engine]];
    const list = `map { opendir(my $d, $_) ? "listed" : "none" } qw(${folders.join(' ')})`;
    expect(await perl(where, `print join " ", ${list}`)).toBe(folders.map(() => 'none').join(' '));
  });

  test('denies access to the memory of the processes that set it up', async () => {
    const files = 'map { "/proc/$_/mem" } grep { $_ != $$ } 1 .. 20, getppid()';
    const opened = `grep { open(my $f, "<", $_) or open($f, "+<", $_) } ${files}`;
    expect(await perl(where, `print join " ", ${opened}`)).toBe('');
  });

  test('lets programs write to the output folder only', async () => {
    const places = ['source/file', 'source/x', '/usr/x', '/x', '/tmp/x', '/dev/x', '/dev/shm/x', 'x'];
    const tried = await perl(
      where,
      `${WRITE} print join " ", map { can_write($_) } qw(${places.join(' ')} output/x)`,
    );
    expect(tried).toBe(`${places.map(() => 'no').join(' ')} yes`);
    const changed =
      'print join " ", (truncate("source/file", 0) || 0), unlink("source/file"), rename("output/x", "output/y"), rename("output/y", "source/y") || 0';
    expect(await perl(where, changed)).toBe('0 0 1 0');
    expect(await readFile(join(directories[engine], 'source', 'file'), 'utf8')).toBe('a video');
  });

  test('lets programs create regular files only, and change no mode', async () => {
    const attempts = [
      'symlink("/etc/passwd", "output/link")',
      'link("source/file", "output/link")',
      'mkdir("output/folder")',
      'do { require POSIX; POSIX::mkfifo("output/pipe", 0600) }',
      'chmod(0666, "source/file")',
      'chmod(0777, "output")',
      'chown($<, $(, "source/file")',
    ];
    const results = attempts.map((attempt) => `((${attempt}) ? "done" : "$!")`).join(', ');
    expect((await perl(where, `print join "\n", ${results}`)).split('\n')).toEqual(
      attempts.map(() => DENIED),
    );
    const made = await readdir(join(directories[engine], 'output'));
    expect(made.filter((name) => ['link', 'folder', 'pipe'].includes(name))).toEqual([]);
  });

  test('denies new processes, memory files and shared memory', async () => {
    const bomb =
      'my $n = 0; for (1 .. 1000) { my $pid = fork; exit if defined $pid && $pid == 0; $n++ if defined $pid } print "$n: $!"';
    expect(await perl(where, bomb)).toBe(`0: ${DENIED}`);
    expect(await perl(where, 'print system("/usr/bin/env") == -1 ? "no" : "yes"')).toBe('no');
    expect(await perl(where, `${CALL} print call(${number.memfd}, "x", 0)`)).toBe(DENIED);
    expect(await perl(where, 'print shmget(0, 4096, 01600) // "$!"')).toBe(DENIED);
  });

  test('denies signals through a pipe or the output of the program', async () => {
    const pid = victims[engine].pid;
    const [setOwner, setSignal, setOwnerEx] = [8, 10, 15];
    const descriptors = ['1', '2', 'fileno($in)'];
    const attempts = descriptors.flatMap((descriptor) => [
      `call(${number.fcntl}, ${descriptor}, ${setOwner}, ${pid})`,
      `call(${number.fcntl}, ${descriptor}, ${setOwner} + 2 ** 32, ${pid})`,
      `call(${number.fcntl}, ${descriptor}, ${setOwnerEx}, pack("ll", 1, ${pid}))`,
      `call(${number.fcntl}, ${descriptor}, ${setSignal}, 9)`,
      // FIOSETOWN, SIOCSPGRP
      `call(${number.ioctl}, ${descriptor}, 0x8901, pack("l", ${pid}))`,
      `call(${number.ioctl}, ${descriptor}, 0x8902, pack("l", ${pid}))`,
    ]);
    const signal = 'fcntl($in, 4, 020000); syswrite($out, "x");';
    const results = `my @r = (${attempts.join(', ')}); ${signal} print join "\n", @r`;
    expect((await perl(where, `${CALL} pipe(my $in, my $out); ${results}`)).split('\n')).toEqual(
      attempts.map(() => DENIED),
    );
    const { exitCode, signalCode } = victims[engine];
    expect({ exitCode, signalCode }).toEqual({ exitCode: null, signalCode: null });
  });

  test('denies leases and notifications on files', async () => {
    // F_SETLEASE, F_NOTIFY, F_SETDELEG
    const attempts = [1024, 1026, 1040].map((command) => `call(${number.fcntl}, fileno($f), ${command}, 0)`);
    const results = await perl(
      where,
      `${CALL} open(my $f, "<", "source/file"); print join "\n", ${attempts.join(', ')}`,
    );
    expect(results.split('\n')).toEqual(attempts.map(() => DENIED));
  });

  test('denies changes of file times, and any use of extended attributes', async () => {
    const secret = join(directories[engine], 'secret');
    const before = await stat(secret);
    // setxattr and the eleven calls after it, setxattrat and the calls after it, file_getattr and file_setattr
    const calls = Array.from({ length: 12 }, (_, at) => number.setxattr + at);
    calls.push(463, 464, 465, 466, 468, 469);
    const attempts = [
      ...['source/file', 'output', secret].map((file) => `utime(1, 1, "${file}") ? "done" : "$!"`),
      `call(${number.setxattr}, "${secret}", "user.x", "y", 1, 0)`,
      ...calls.map((call) => `call(${call}, 0, 0, 0, 0, 0)`),
    ];
    const results = attempts.map((attempt) => `(${attempt})`).join(', ');
    expect((await perl(where, `${CALL} print join "\n", ${results}`)).split('\n')).toEqual(
      attempts.map(() => DENIED),
    );
    expect((await stat(secret)).mtimeMs).toBe(before.mtimeMs);
  });

  test('denies shared memory, semaphores and queues of other programs', async () => {
    const attempts = [
      'shmread(0, my $b, 0, 1)',
      'shmctl(0, 2, my $b)',
      'semop(0, pack("sss", 0, 1, 0))',
      'semctl(0, 0, 2, my $b)',
      'msgsnd(0, pack("l! a*", 1, "x"), 0)',
      'msgrcv(0, my $b, 1, 0, 04000)',
      'msgctl(0, 2, my $b)',
      `call(${number.mqUnlink}, "x") eq "0"`,
    ];
    const results = attempts.map((attempt) => `((${attempt}) ? "done" : "$!")`).join(', ');
    expect((await perl(where, `${CALL} print join "\n", ${results}`)).split('\n')).toEqual(
      attempts.map(() => DENIED),
    );
  });

  test('denies renames that create a device file, and the robust lists of other processes', async () => {
    // RENAME_WHITEOUT
    const rename = `open(my $f, ">", "output/z"); call(${number.renameat2}, -100, "output/z", -100, "output/w", 4)`;
    expect(await perl(where, `${CALL} print do { ${rename} }`)).toBe(DENIED);
    const { pid } = victims[engine];
    const list = `call(${number.robustList}, ${pid}, my $a = "x" x 8, my $b = "x" x 8)`;
    expect(await perl(where, `${CALL} print ${list}`)).toBe(DENIED);
  });

  test('denies mounts', async () => {
    // open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr
    const calls = [428, 429, 430, 431, 432, 433, 442];
    const results = await perl(
      where,
      `${CALL} print join "\n", map { call($_, -100, "/usr", 0, 0, 0) } qw(${calls.join(' ')})`,
    );
    expect(results.split('\n')).toEqual(calls.map(() => DENIED));
  });

  test('denies socket calls on the output of the program, and the kernel log', async () => {
    const { bind, listen, accept, accept4, connect, sendmsg, sendmmsg, syslog } = number;
    const calls = [bind, listen, accept, accept4, connect, sendmsg, sendmmsg];
    // SYSLOG_ACTION_SIZE_BUFFER
    const attempts = [...calls.map((call) => `call(${call}, 1, 0, 0, 0)`), `call(${syslog}, 10, 0, 0)`];
    const results = await perl(where, `${CALL} print join "\n", ${attempts.join(', ')}`);
    expect(results.split('\n')).toEqual(attempts.map(() => DENIED));
  });

  test('denies connections', async () => {
    let connections = 0;
    const server: Server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    const connect =
      'use Socket; socket(my $s, PF_INET, SOCK_STREAM, 0) or print("no socket"), exit; ' +
      `print connect($s, sockaddr_in(${port}, inet_aton("127.0.0.1"))) ? "connected" : "refused"`;
    expect(await perl({ sandbox: 'none', engine }, connect)).toBe('connected');
    expect(await perl(where, connect)).toBe('no socket');
    const local = 'use Socket; print socket(my $s, PF_UNIX, SOCK_STREAM, 0) ? "socket" : "$!"';
    expect(await perl(where, local)).toBe(DENIED);
    server.close();
    expect(connections).toBe(1);
  });
});

describeEach(inBubblewrap)('bubblewrap of an engine of $engine', (where) => {
  const { engine } = where;

  test('hides all other files', async () => {
    const list = 'sub list { opendir(my $d, shift) or return "none"; sort grep { !/^..?$/ } readdir $d }';
    const listed = async (folder: string) =>
      (await perl(where, `${list} print join " ", list("${folder}")`)).split(' ');
    expect(await listed('/')).toEqual(['bin', 'dev', 'etc', 'job', 'lib', 'lib64', 'sbin', 'tmp', 'usr']);
    const ofHost = await readdir('/etc');
    const shown = ['alternatives', 'fonts', 'ld.so.cache'].filter((name) => ofHost.includes(name));
    expect(await listed('/etc')).toEqual(shown);
    expect(await listed('/job')).toEqual(['output', 'source']);
    expect(await listed('/tmp')).toEqual(['']);
  });

  test('has namespaces of its own', async () => {
    const names = ['ipc', 'mnt', 'net', 'pid', 'uts', ...(engine === 'root' ? [] : ['user'])];
    const namespacesOf = (pid: number | 'self') =>
      Promise.all(names.map((name) => readlink(`/proc/${pid}/ns/${name}`)));
    const command = await confine(where, '/usr/bin/perl');
    const stop = new AbortController();
    const waiting = run(where, [...command, '-e', 'sleep 60'], { signal: stop.signal });
    const find = async () => {
      const processes = await processesUsing('/job');
      return processes.find(({ command }) => command.startsWith('/usr/bin/perl -e sleep 60'));
    };
    await until(async () => (await find()) !== undefined);
    const own = await namespacesOf((await find())?.pid ?? 0);
    const shared = (await namespacesOf('self')).filter((name) => own.includes(name));
    stop.abort(new Error('Seen'));
    await expect(waiting).rejects.toThrow('Seen');
    expect(shared).toEqual([]);
  });
});
