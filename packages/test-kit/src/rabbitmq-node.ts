import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Broker, brokerUrls, definitionsFor, ROOT_VIRTUAL_HOST, unsettledMessages } from './broker.ts';
import { ErlangShell } from './erlang-shell.ts';
import { freePorts, isListening } from './free-ports.ts';
import { until } from './until.ts';

/** The program in Debian's package. The wrapper on the PATH requires the user rabbitmq. */
const PROGRAM = '/usr/lib/rabbitmq/bin/rabbitmq-server';

const START_SECONDS = 60;

/** What another process needs to use a broker (see `createVirtualHost`). */
export type NodeAddress = { port: number; env: Record<string, string> };

/** A RabbitMQ of its own, with its own ports and directory. Its addresses are those of the default virtual host. */
export type RabbitMqNode = Broker & {
  address: NodeAddress;
  /** Writes queue declarations to disk, which the broker does by itself only after some seconds. */
  flush(): Promise<void>;
  /** Kills the broker. It may forget queues declared in the last seconds, unless they were flushed. */
  kill(): Promise<void>;
  /** Starts it again with what is on disk. */
  start(): Promise<void>;
  /** Evaluates an Erlang expression on the broker. Its value must be representable in JSON. */
  evaluate(expression: string): Promise<unknown>;
  /** Raises the alarm for low memory or low disk space, or ends it. Resolves once the broker blocks publishers, or no longer does. */
  setAlarm(shortOf: 'memory' | 'disk', raised: boolean): Promise<void>;
};

const ALARMS = {
  memory: {
    raise: 'vm_memory_monitor:set_vm_memory_high_watermark(0.00001)',
    end: 'vm_memory_monitor:set_vm_memory_high_watermark(0.4)',
  },
  disk: {
    raise: 'rabbit_disk_monitor:set_disk_free_limit("1000000GB")',
    end: 'rabbit_disk_monitor:set_disk_free_limit("50MB")',
  },
};

/** Starts a broker and resolves once it accepts connections, after about ten seconds. */
export async function startRabbitMq(): Promise<RabbitMqNode> {
  const directory = await mkdtemp(join(tmpdir(), 'framelane-rabbitmq-'));
  const [port, distPort, epmdPort] = (await freePorts(3)) as [number, number, number];
  const env = {
    PATH: process.env.PATH ?? '',
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
    // One scheduler that does not busy-wait, because the tests need the processors. Queue statistics are updated more often.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      '+S 1:1 +sbwt none +sbwtdcpu none +sbwtdio none -rabbit quorum_tick_interval 500',
  };
  await mkdir(env.RABBITMQ_LOG_BASE);
  await writeFile(env.RABBITMQ_ENABLED_PLUGINS_FILE, '[].\n');
  const definitions = join(directory, 'definitions.json');
  await writeFile(definitions, JSON.stringify(definitionsFor(ROOT_VIRTUAL_HOST)));
  const settings = ['log.file.level = warning', 'disk_free_limit.absolute = 50MB'];
  settings.push('collect_statistics_interval = 500');
  settings.push(`load_definitions = ${definitions}`);
  await writeFile(env.RABBITMQ_CONFIG_FILE, `${settings.join('\n')}\n`);

  // Otherwise the node starts a port mapper that outlives it.
  const epmd = spawn('epmd', ['-address', '127.0.0.1'], { env, stdio: 'ignore' });
  let server: ChildProcess | undefined;
  let shell: ErlangShell | undefined;

  const start = async () => {
    server = spawn(PROGRAM, { env, detached: true, stdio: ['ignore', 'ignore', 'ignore'] });
    await untilListening(port, server).catch(async (error) => {
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
    // The start script may exit before the virtual machine.
    await until(async () => !(await isListening(port)), { what: 'the broker has ended' });
  };
  const remove = async () => {
    await Promise.all([kill(), shell?.stop()]);
    epmd.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  const evaluate = (expression: string) => {
    shell ??= new ErlangShell(env);
    return shell.evaluate(expression);
  };
  const flush = async () => {
    await evaluate('mnesia:sync_log(), [dets:sync(Table) || Table <- dets:all()], true');
  };
  const setAlarm = async (shortOf: keyof typeof ALARMS, raised: boolean) => {
    const done = `Done = fun() -> (rabbit_alarm:get_alarms() =/= []) =:= ${raised} end`;
    const wait = 'Wait = fun Again() -> Done() orelse begin timer:sleep(5), Again() end end';
    await evaluate(`${ALARMS[shortOf][raised ? 'raise' : 'end']}, ${done}, ${wait}, Wait()`);
  };

  try {
    await start();
  } catch (error) {
    await remove();
    throw error;
  }
  return {
    ...brokerUrls(port, ROOT_VIRTUAL_HOST),
    unsettledMessages: () => unsettledMessages(evaluate, ROOT_VIRTUAL_HOST),
    address: { port, env },
    flush,
    kill,
    start,
    evaluate,
    setAlarm,
    remove,
  };
}

/** The node opens its port last. */
async function untilListening(port: number, server: ChildProcess): Promise<void> {
  const hasEnded = () => server.exitCode !== null || server.signalCode !== null;
  await until(async () => hasEnded() || (await isListening(port)), {
    what: `the broker listens on ${port}`,
    seconds: START_SECONDS,
  });
  if (hasEnded()) throw new Error('The broker has ended');
}
