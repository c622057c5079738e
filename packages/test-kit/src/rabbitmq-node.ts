import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from './free-ports.ts';

/** Where Debian's package keeps the program itself; the one on the PATH insists on a user of its own. */
const PROGRAM = '/usr/lib/rabbitmq/bin/rabbitmq-server';

const START_LIMIT_MS = 60_000;

/** Prints the users that docker-compose.yml gives the broker, with their rights. */
const DEFINITIONS = join(import.meta.dirname, '..', 'rabbitmq', 'definitions.sh');

/** Their passwords. */
const PASSWORDS = {
  RABBITMQ_PASSWORD: 'administrator',
  RABBITMQ_CONTROL_PLANE_PASSWORD: 'declares',
  RABBITMQ_ENGINE_PASSWORD: 'transcodes',
};

/** A RabbitMQ of the tests' own, on ports and in a directory of its own. */
export type RabbitMqNode = {
  /** The address of its default virtual host, for its administrator. */
  url: string;
  /** The same for the users of the services, which have the rights of those in docker-compose.yml. */
  serviceUrls: { controlPlane: string; engine: string };
  /** Writes down which queues there are, as the broker does by itself only some seconds after they were declared. */
  flush(): Promise<void>;
  /** Ends it at once. Queues declared in the last seconds and not flushed may be gone then, with their messages. */
  kill(): Promise<void>;
  /** Starts it again with what it had on disk. */
  start(): Promise<void>;
  /** Runs rabbitmqctl on it; resolves with what it prints. */
  control(...args: string[]): Promise<string>;
  /** Ends it and removes its files. */
  remove(): Promise<void>;
};

/** Starts a broker and resolves once it takes connections, after some ten seconds. */
export async function startRabbitMq(): Promise<RabbitMqNode> {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-rabbitmq-'));
  const [port, distPort, epmdPort] = (await freePorts(3)) as [number, number, number];
  const urlFor = (user: string, password: string) => `amqp://${user}:${password}@127.0.0.1:${port}`;
  const url = urlFor('framelane', PASSWORDS.RABBITMQ_PASSWORD);
  const serviceUrls = {
    controlPlane: urlFor('control-plane', PASSWORDS.RABBITMQ_CONTROL_PLANE_PASSWORD),
    engine: urlFor('engine', PASSWORDS.RABBITMQ_ENGINE_PASSWORD),
  };
  const env = {
    PATH: process.env.PATH,
    LANG: 'C.UTF-8',
    HOME: directory,
    ERL_EPMD_PORT: String(epmdPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_NODENAME: `framelane-${port}@localhost`,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_MNESIA_BASE: join(directory, 'mnesia'),
    RABBITMQ_LOG_BASE: join(directory, 'log'),
    RABBITMQ_FEATURE_FLAGS_FILE: join(directory, 'feature_flags'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(directory, 'enabled_plugins'),
    RABBITMQ_CONFIG_FILE: join(directory, 'rabbitmq.conf'),
    // One scheduler that sleeps when idle: the tests need the processors more.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none',
  };
  await mkdir(env.RABBITMQ_LOG_BASE);
  await writeFile(env.RABBITMQ_ENABLED_PLUGINS_FILE, '[].\n');
  const definitions = join(directory, 'definitions.json');
  await writeFile(definitions, execFileSync('sh', [DEFINITIONS], { env: { ...env, ...PASSWORDS } }));
  const settings = ['log.file.level = warning', 'disk_free_limit.absolute = 50MB'];
  settings.push(`load_definitions = ${definitions}`);
  await writeFile(env.RABBITMQ_CONFIG_FILE, `${settings.join('\n')}\n`);

  // The node would leave a port mapper of its own behind.
  const epmd = spawn('epmd', ['-address', '127.0.0.1'], { env, stdio: 'ignore' });
  let server: ChildProcess | undefined;

  const start = async () => {
    server = spawn(PROGRAM, { env, detached: true, stdio: ['ignore', 'ignore', 'ignore'] });
    await untilAccepts(port, server).catch(async (error) => {
      const log = await readFile(join(directory, 'log', `${env.RABBITMQ_NODENAME}.log`), 'utf8').catch(
        () => '',
      );
      throw new Error(`RabbitMQ did not start. ${log.slice(-2000)}`, { cause: error });
    });
  };
  const kill = async () => {
    if (server?.pid === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const exited = once(server, 'exit');
    process.kill(-server.pid, 'SIGKILL');
    await exited;
    // The script that started the virtual machine may end before it.
    while (await accepts(port)) await delay(20);
  };
  const remove = async () => {
    await kill();
    epmd.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  const control = (...args: string[]) => output('/usr/lib/rabbitmq/bin/rabbitmqctl', ['-q', ...args], env);
  const flush = async () => {
    await control('eval', 'mnesia:sync_log(), [dets:sync(Table) || Table <- dets:all()].');
  };

  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return { url, serviceUrls, flush, kill, start, control, remove };
}

/** The node opens its port when all else is up. */
async function untilAccepts(port: number, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + START_LIMIT_MS;
  while (!(await accepts(port))) {
    if (Date.now() > deadline || server.exitCode !== null) throw new Error(`Nothing listens on ${port}`);
    await delay(200);
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

async function output(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  child.stderr.on('data', (chunk) => {
    text += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${text}`);
  return text;
}
