import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMp4 } from '../../packages/acceptance/src/clips.ts';
import { freePorts } from '../../packages/test-kit/src/free-ports.ts';
import { runProgram } from '../../packages/test-kit/src/run-program.ts';
import { until } from '../../packages/test-kit/src/until.ts';
import { ROOT } from '../bootstrap/project.js';
import { Customer } from './customer.js';
import { CONFINED_COMMAND, REACHED_UNCONFINED, reached } from './hostile-program.js';
import { ComposeStack, commandsFrom } from './stack.js';

/**
 * `pnpm compose:check` starts docker-compose.yml with two engines of each role and tests the running system. The images are built from the
 * checkout; with `--released` they are those of the release, or of FRAMELANE_TAG. To use other programs than `docker compose` and `docker`, set
 * COMPOSE_COMMAND and CONTAINER_COMMAND.
 */

/** Engines of each role. */
const REPLICAS = { uploader: 2, transcoder: 2 };
const UPLOADS = 6;
const SMALL = { width: 640, height: 360, rate: '30', seconds: 6, audio: { sampleRate: 48_000, channels: 2 } };
/** Long enough to kill the transcoder during the transcode. */
const LONG = { ...SMALL, width: 1280, height: 720, seconds: 24 };
/** Files of each image that docs/licences.md promises. */
const NPM_LICENCES = ['/app/LICENSE', '/app/infra/licences/texts/aws-sdk.txt'];
const LICENCES = { gateway: ['/app/LICENSE'], 'control-plane': NPM_LICENCES, transcoder: NPM_LICENCES };

const stopped = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(name, () => stopped.abort(new Error(`Stopped by ${name}`)));
}

const folder = await mkdtemp(join(tmpdir(), 'framelane-compose-check-'));
try {
  await check(folder, stopped.signal);
  console.log('\nAll checks passed.');
} catch (error) {
  // The name of the step comes last, where the list of all failures shows it.
  console.error(`\n${error.cause?.message ?? ''}\n\n✗ ${error.message}`);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

async function check(folder, signal) {
  const [api, uploads, management] = await freePorts(3);
  const ports = { api, uploads, management };
  const target = {
    baseUrl: `http://localhost:${ports.api}/v1`,
    engineUrl: `http://localhost:${ports.uploads}`,
  };
  const envFile = join(folder, 'env');
  await runProgram(process.execPath, [join(ROOT, 'infra/compose/make-env.js'), envFile]);
  const stack = new ComposeStack({
    commands: commandsFrom(process.env),
    released: process.argv.includes('--released'),
    envFile,
    env: {
      API_PORT: String(ports.api),
      UPLOAD_PORT: String(ports.uploads),
      RABBITMQ_MANAGEMENT_PORT: String(ports.management),
      PUBLIC_URL: `http://localhost:${ports.api}`,
      ENGINE_PUBLIC_URL: target.engineUrl,
      ENGINE_SLOTS: '1',
      // So that requests for captions are accepted. Nothing responds there.
      RECOGNIZER_URL: 'http://recognizer.invalid/v1',
    },
    replicas: REPLICAS,
    signal,
  });
  try {
    await runChecks(stack, target, folder, signal);
  } catch (error) {
    if (!signal.aborted) console.error(await stack.logTails().catch(() => ''), error);
    await remove(stack).catch(console.error);
    throw signal.aborted ? signal.reason : error;
  }
  await remove(stack);
}

function remove(stack) {
  return step('Everything is removed, volumes included', async () => {
    const left = await stack.down();
    if (left.length > 0) throw new Error(`Not removed: ${left.join(' ')}`);
  });
}

async function runChecks(stack, target, folder, signal) {
  await step('The system is healthy with two engines of each role', () => stack.up());
  const customer = await step('The admin command creates a workspace and a key', async () => {
    const { id } = await stack.admin('workspace', 'create', '--name', 'Check');
    const { secret } = await stack.admin('key', 'create', '--name', 'Check', '--workspace', id);
    return new Customer({ ...target, workspaceId: id, apiKey: secret }, signal);
  });
  await step('No service connects as an administrator', async () => {
    const sessions = `select usename from pg_stat_activity where datname = 'framelane' and pid <> pg_backend_pid()`;
    const psql = ['psql', '--username=framelane', '--no-align', '--tuples-only', `--command=${sessions}`];
    const users = [
      await stack.users('postgres', ...psql),
      await stack.users(
        'rabbitmq',
        'rabbitmqctl',
        '--quiet',
        '--no-table-headers',
        'list_connections',
        'user',
      ),
    ];
    const expected = [['control-plane'], ['control-plane', 'engine']];
    if (JSON.stringify(users) !== JSON.stringify(expected))
      throw new Error(`Connected users: ${users.join('; ')}`);
  });
  const [small, long] = await Promise.all([
    makeMp4(folder, { name: 'small', ...SMALL }),
    makeMp4(folder, { name: 'long', ...LONG }),
  ]);

  await step('Every image contains its licences', async () => {
    for (const [service, paths] of Object.entries(LICENCES)) {
      const [container] = await stack.containers(service);
      for (const path of paths) await stack.exec(container, 'test', '-s', path);
    }
  });
  const videos = await step(`${UPLOADS} videos uploaded at the same time become ready`, async () => {
    const ids = await Promise.all(Array.from({ length: UPLOADS }, () => customer.upload(small)));
    return Promise.all(ids.map((id) => customer.ready(id)));
  });
  await step('Every uploader has received videos, and every transcoder has transcoded some', async () => {
    for (const [service, event] of [
      ['uploader', 'upload.received'],
      ['transcoder', 'task.finished'],
    ]) {
      const containers = await stack.containers(service);
      const counts = await Promise.all(containers.map(async (id) => (await stack.logged(id, event)).length));
      if (counts.length !== REPLICAS[service] || counts.includes(0))
        throw new Error(`${event} per ${service}: ${counts.join(', ')}`);
      console.log(`  ${service}: ${counts.join(' and ')}`);
    }
  });
  await step('Every stream conforms to the HLS rules', async () => {
    for (const video of videos) await customer.play(video);
  });

  await step(
    'A program run in place of ffmpeg can reach no secrets, no network and no files outside its sandbox',
    async () => {
      for (const transcoder of await stack.containers('transcoder')) {
        const [{ sandbox } = {}] = await stack.logged(transcoder, 'sandbox.chosen');
        const confined = await reached(stack, transcoder, CONFINED_COMMAND);
        if (!sandbox || confined !== '') throw new Error(`Sandbox ${sandbox}, reached: ${confined}`);
        // For comparison: the same program without the sandbox.
        const unconfined = await reached(stack, transcoder, []);
        if (unconfined !== REACHED_UNCONFINED) throw new Error(`Reached without the sandbox: ${unconfined}`);
      }
    },
  );

  await step('A video becomes ready although its transcoder is killed', async () => {
    const id = await customer.upload(long);
    const transcoder = await until(() => transcoderOf(stack, id), { seconds: 120 });
    await stack.kill(transcoder);
    await customer.play(await customer.ready(id));
    const transcoders = await stack.containers('transcoder');
    const logged = await Promise.all(transcoders.map((each) => stack.logged(each, 'task.finished')));
    const { attempt } = logged.flat().find(({ videoId }) => videoId === id);
    if (attempt < 2) throw new Error('The transcoder was killed too late');
  });

  await step('After a restart all videos exist, and new ones become ready', async () => {
    await stack.restart();
    for (const video of videos) await customer.play(video);
    await customer.play(await customer.ready(await customer.upload(small)));
  });
}

/** The transcoder that has started to encode a video. */
async function transcoderOf(stack, id) {
  for (const transcoder of await stack.containers('transcoder')) {
    const planned = await stack.logged(transcoder, 'transcode.planned');
    if (planned.some(({ videoId }) => videoId === id)) return transcoder;
  }
  return undefined;
}

/** Runs and prints a step. Its error has the title as its message, and the failure as its cause. */
async function step(title, work) {
  console.log(`… ${title}`);
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1);
  try {
    const result = await work();
    console.log(`✓ ${title} (${seconds()} s)`);
    return result;
  } catch (error) {
    console.log(`✗ ${title} (${seconds()} s)`);
    throw new Error(title, { cause: error });
  }
}
