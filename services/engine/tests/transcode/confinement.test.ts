import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writeConfinedProgram } from '../../src/transcode/confinement.ts';
import { runTool } from '../../src/transcode/run-tool.ts';
import { DEFAULT_TRANSCODE_LIMITS } from '../../src/transcode/transcode-settings.ts';
import { processesIn, until } from './support/processes.ts';
import { workingSandboxes } from './support/sandboxes.ts';

const MIB = 1024 ** 2;
const LIMITS = { ...DEFAULT_TRANSCODE_LIMITS, memoryBytes: 512 * MIB, fileBytes: MIB };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'confinement-'));
  await mkdir(join(directory, 'source'));
  await mkdir(join(directory, 'output'));
  await writeFile(join(directory, 'secret'), 'of another tenant');
  await writeFile(join(directory, 'source', 'file'), 'a video');
});
afterAll(() => rm(directory, { recursive: true }));

type Sandbox = 'bubblewrap' | 'none';

/** What a Perl program prints that is confined like ffmpeg; unlike a shell, Perl does much without other processes. */
async function perl(sandbox: Sandbox, program: string, limits = LIMITS): Promise<string> {
  const script = join(directory, `perl-${sandbox}`);
  await writeConfinedProgram(script, '/usr/bin/perl', sandbox, limits);
  const lines: string[] = [];
  await runTool(script, ['-e', program], {
    cwd: directory,
    signal: new AbortController().signal,
    limitSeconds: 20,
    onLine: (line) => lines.push(line),
  });
  return lines.join('\n');
}

const READ = 'sub read_file { open(my $f, "<", shift) or return "none"; local $/; <$f> }';
const WRITE = 'sub can_write { open(my $f, ">", shift) ? "yes" : "no" }';

const sandboxes = workingSandboxes();
const inBubblewrap = sandboxes.includes('bubblewrap') ? describe : describe.skip;

describe.each(sandboxes)('a program confined with sandbox %s', (sandbox) => {
  test('sees nothing of the environment', async () => {
    process.env.FRAMELANE_TEST_SECRET = 'do not tell';
    const names = (await perl(sandbox, 'print join "\n", sort keys %ENV')).split('\n');
    expect(names.filter((name) => name !== 'PWD')).toEqual(['LC_ALL', 'PATH']);
  });

  test('works on the job in its directory', async () => {
    const work =
      'open(my $f, ">", "output/y"); print $f "x"; close $f; print read_file("source/file"), read_file("output/y")';
    expect(await perl(sandbox, `${READ} ${work}`)).toBe('a videox');
  });

  test('is at low priority and under limits', async () => {
    const [stat, limits] = (
      await perl(
        sandbox,
        `${READ} print read_file("/proc/self/stat"), "-----", read_file("/proc/self/limits")`,
      )
    ).split('-----');
    expect(stat?.split(' ')[18]).toBe('10');
    expect(limits).toMatch(new RegExp(`Max address space +${LIMITS.memoryBytes} `));
    expect(limits).toMatch(new RegExp(`Max file size +${LIMITS.fileBytes} `));
    expect(limits).toMatch(new RegExp(`Max cpu time +${LIMITS.cpuSeconds} `));
    expect(limits).toMatch(/Max core file size +0 /);
  });

  test('gets no more memory than its share', async () => {
    const allocate = (mib: number) => perl(sandbox, `my $x = "x" x (${mib} * 1024 * 1024); print length $x`);
    expect(await allocate(64)).toBe(String(64 * MIB));
    await expect(allocate(1024)).rejects.toMatchObject({ stderr: expect.stringMatching(/out of memory/i) });
  });

  test('is ended when it writes too large a file', async () => {
    const write =
      'open(my $f, ">", "output/large"); print $f "x" x 1024 for 1 .. 4096; close $f; print "done"';
    await expect(perl(sandbox, write)).rejects.toMatchObject({ name: 'ToolError' });
  });

  test('is ended when it has had its time on the processor', async () => {
    await expect(perl(sandbox, '1 while 1', { ...LIMITS, cpuSeconds: 1 })).rejects.toMatchObject({
      name: 'ToolError',
    });
  });

  test('is ended with all it started when it hangs and does not listen', async () => {
    const program = join(directory, `deaf-${sandbox}`);
    await writeConfinedProgram(program, '/bin/sh', sandbox, LIMITS);
    const child = sandbox === 'none' ? 'sleep 100 &' : '';
    const running = runTool(program, ['-c', `trap "" TERM; ${child} while :; do :; done`], {
      cwd: directory,
      signal: new AbortController().signal,
      limitSeconds: 0.5,
      onLine: () => {},
    });
    await expect(running).rejects.toMatchObject({ end: 'timeout' });
    await until(async () => (await processesIn(directory)).length === 0);
  });

  test('is ended when it prints without end', async () => {
    const program = join(directory, `perl-${sandbox}`);
    await writeConfinedProgram(program, '/usr/bin/perl', sandbox, LIMITS);
    let printed = 0;
    const running = runTool(program, ['-e', 'print "x" x 1000 while 1'], {
      cwd: directory,
      signal: new AbortController().signal,
      limitSeconds: 20,
      limitOutput: 100_000,
      onLine: (line) => {
        printed += line.length;
      },
    });
    await expect(running).rejects.toMatchObject({ end: 'talkative' });
    expect(printed).toBeLessThan(MIB);
  });
});

test('a program without the sandbox leads its own process group', async () => {
  const [pid, , , , group] = (await perl('none', `${READ} print read_file("/proc/self/stat")`)).split(' ');
  expect(group).toBe(pid);
});

test.each([
  ['/usr/bin/perl', false],
  // As for a link in /opt to a program elsewhere.
  ['/opt/../usr/bin/perl', true],
])('of a program called as %s, whether the sandbox has /opt is %s', async (program, isThere) => {
  const script = join(directory, 'script');
  await writeConfinedProgram(script, program, 'bubblewrap', LIMITS);
  expect((await readFile(script, 'utf8')).includes(' /opt /opt ')).toBe(isThere);
});

inBubblewrap('bubblewrap', () => {
  test('keeps all other files away', async () => {
    expect(await perl('bubblewrap', `${READ} print read_file("${directory}/secret")`)).toBe('none');
    const list = 'sub list { opendir(my $d, shift) or return "none"; sort grep { !/^..?$/ } readdir $d }';
    const listed = async (folder: string) =>
      (await perl('bubblewrap', `${list} print join " ", list("${folder}")`)).split(' ');
    expect(await listed('/')).toEqual([
      'bin',
      'dev',
      'etc',
      'job',
      'lib',
      'lib64',
      'proc',
      'sbin',
      'tmp',
      'usr',
    ]);
    const ofHost = await readdir('/etc');
    const shown = ['alternatives', 'fonts', 'ld.so.cache'].filter((name) => ofHost.includes(name));
    expect(await listed('/etc')).toEqual(shown);
    expect(await listed('/job')).toEqual(['output', 'source']);
    expect(await listed('/tmp')).toEqual(['']);
  });

  test('keeps other processes away', async () => {
    const others = `${READ} print map { read_file("/proc/$_/environ") } qw(${process.pid} ${process.ppid})`;
    expect(await perl('bubblewrap', others)).toBe('nonenone');
    const names =
      'print join " ", map { read_file("/proc/$_/comm") } grep { /^[0-9]+$/ } do { opendir(my $d, "/proc"); readdir $d }';
    const seen = (await perl('bubblewrap', `${READ} ${names}`)).split(/\s+/).filter((name) => name !== '');
    expect(seen).toContain('perl');
    expect(seen.filter((name) => name !== 'perl' && name !== 'bwrap')).toEqual([]);
  });

  test('lets it write to the output alone', async () => {
    const places = ['source/file', '/usr/x', '/x', '/tmp/x', '/dev/x', '/dev/shm/x', '/job/x', 'output/x'];
    const tried = await perl(
      'bubblewrap',
      `${WRITE} print join " ", map { can_write($_) } qw(${places.join(' ')})`,
    );
    expect(tried).toBe('no no no no no no no yes');
  });

  test('lets it start no other process', async () => {
    const bomb =
      'my $n = 0; for (1 .. 1000) { my $pid = fork; exit if defined $pid && $pid == 0; $n++ if defined $pid } print "$n: $!"';
    expect(await perl('bubblewrap', bomb)).toBe('0: Operation not permitted');
    expect(await perl('bubblewrap', 'print system("/usr/bin/env") == -1 ? "no" : "yes"')).toBe('no');
  });

  test('lets it open no connection', async () => {
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
    expect(await perl('none', connect)).toBe('connected');
    expect(await perl('bubblewrap', connect)).toBe('no socket');
    expect(await perl('bubblewrap', `${READ} print read_file("/proc/net/dev")`)).not.toMatch(
      /^\s*(?!lo)\w+:/m,
    );
    server.close();
    expect(connections).toBe(1);
  });
});
