/**
 * The cost of an upload: `pnpm bench:upload [--sizes 64,1024,4096] [--rounds 3]`, sizes in MiB. Uploads the same number of
 * bytes to the same object store
 *
 * - through the engine, as a form,
 * - through the engine, as a resumable upload,
 * - with the S3 SDK, without a server,
 * - through `@tus/server` with its S3 store.
 *
 * Each round runs all contenders, so that other load affects them equally. Each upload has new processes, including the
 * store. The store is that at S3_TEST_ENDPOINT (see `npm test -- --help`), else the one of the tests, which writes to disk. Prints
 * medians, as a table and as JSON; ratios are computed per round.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { S3Options } from '@framelane/object-store/s3-object-store';
import { line, median, print } from '@framelane/test-kit/benchmark-table';
import { FakeControlPlane } from '../support/fake-control-plane.ts';
import { sendByTus, sendForm } from './support/send-file.ts';
import type { ContenderKind } from './support/upload-contender.ts';

type Cost = { cpuSeconds: number; peakBytes: number };
type Result = Cost & { bytesPerSecond: number };
type Round = Record<ContenderKind, Result>;

const MIB = 1024 ** 2;
const KINDS: readonly ContenderKind[] = ['form', 'resumable', 'sdk', 'tus'];
const SUPPORT = join(import.meta.dirname, 'support');

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '64,1024,4096' },
    rounds: { type: 'string', default: '3' },
  },
});

const directory = await mkdtemp(join(tmpdir(), 'bench-upload-'));
const controlPlane = await FakeControlPlane.start();
try {
  print(line(['', 'MiB/s', 'form/this', 'CPU s', 'RSS MiB']));
  for (const size of values.sizes.split(',').map(Number)) {
    const rounds: Round[] = [];
    for (let round = 0; round < Number(values.rounds); round += 1)
      rounds.push(await runRound(size * MIB, round));
    report(size, rounds);
  }
} finally {
  await controlPlane.stop();
  await rm(directory, { recursive: true });
}

/** Runs each contender once. Each round starts with another one. */
async function runRound(bytes: number, round: number): Promise<Round> {
  const results: Partial<Round> = {};
  for (const at of KINDS.keys()) {
    const kind = KINDS[(at + round) % KINDS.length] ?? 'sdk';
    results[kind] = await runOnce(kind, bytes);
  }
  return results as Round;
}

async function runOnce(kind: ContenderKind, bytes: number): Promise<Result> {
  const server = startStore();
  const store = server ? await nextMessage<S3Options>(server) : realStore();
  const settings = { store, controlPlaneUrl: controlPlane.url, workDir: join(directory, 'work') };
  const contender = fork(join(SUPPORT, 'upload-contender.ts'), [kind, JSON.stringify(settings)]);
  try {
    const { port } = await nextMessage<{ port: number }>(contender);
    // Warm-up: connections, and loading and compiling of code.
    await upload(kind, contender, port, 128 * MIB);
    const before = await ask(contender);
    const startedAt = performance.now();
    await upload(kind, contender, port, bytes);
    const seconds = (performance.now() - startedAt) / 1000;
    const { cpuSeconds, peakBytes } = await ask(contender);
    return { bytesPerSecond: bytes / seconds, cpuSeconds: cpuSeconds - before.cpuSeconds, peakBytes };
  } finally {
    await end(contender);
    if (server) await end(server);
  }
}

async function upload(
  kind: ContenderKind,
  contender: ChildProcess,
  port: number,
  bytes: number,
): Promise<void> {
  if (kind === 'tus') return sendByTus(port, bytes);
  const { token } = controlPlane.issue({ maxBytes: bytes });
  if (kind === 'form') return sendForm(port, token, bytes);
  if (kind === 'resumable') return sendByTus(port, bytes, { 'X-Upload-Token': token });
  contender.send({ upload: bytes });
  await nextMessage(contender);
}

function startStore(): ChildProcess | null {
  return process.env.S3_TEST_ENDPOINT ? null : fork(join(SUPPORT, 'object-server.ts'));
}

function realStore(): S3Options {
  const {
    S3_TEST_ENDPOINT,
    S3_TEST_REGION,
    S3_TEST_ACCESS_KEY_ID,
    S3_TEST_SECRET_ACCESS_KEY,
    S3_TEST_BUCKET,
  } = process.env;
  return {
    endpoint: S3_TEST_ENDPOINT ?? '',
    region: S3_TEST_REGION ?? 'us-east-1',
    bucket: S3_TEST_BUCKET ?? 'framelane-benchmark',
    accessKeyId: S3_TEST_ACCESS_KEY_ID ?? '',
    secretAccessKey: S3_TEST_SECRET_ACCESS_KEY ?? '',
    forcePathStyle: true,
  };
}

async function ask(contender: ChildProcess): Promise<Cost> {
  contender.send('cost');
  return nextMessage<Cost>(contender);
}

async function nextMessage<T>(child: ChildProcess): Promise<T> {
  const [message] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('A process exited early'))),
  ]);
  return message as T;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.disconnect();
  await once(child, 'exit');
}

function report(size: number, rounds: readonly Round[]): void {
  const rows = KINDS.map((kind) => ({
    name: kind,
    mibPerSecond: median(rounds.map((round) => round[kind].bytesPerSecond / MIB)),
    ratio: median(rounds.map((round) => round.form.bytesPerSecond / round[kind].bytesPerSecond)),
    cpuSeconds: median(rounds.map((round) => round[kind].cpuSeconds)),
    peakRssMib: median(rounds.map((round) => round[kind].peakBytes / MIB)),
  }));
  print(`${size} MiB, ${rounds.length} rounds`);
  for (const { name, mibPerSecond, ratio, cpuSeconds, peakRssMib } of rows) {
    print(
      line([
        `  ${name}`,
        mibPerSecond.toFixed(0),
        ratio.toFixed(2),
        cpuSeconds.toFixed(2),
        peakRssMib.toFixed(0),
      ]),
    );
  }
  print(JSON.stringify({ mib: size, rounds: rounds.length, rows }));
}
