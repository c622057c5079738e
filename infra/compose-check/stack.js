import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../bootstrap/project.js';

const execute = promisify(execFile);

/** One project per machine. Each run removes what a killed run has left. */
const PROJECT = 'framelane-check';

const OF_PROJECT = ['--filter', `label=com.docker.compose.project=${PROJECT}`];

/** A template for the volumes of a container, including anonymous ones. */
const VOLUMES = '{{range .Mounts}}{{if eq .Type "volume"}}{{.Name}} {{end}}{{end}}';

/** Without a limit, the check would wait without end for a service that never becomes healthy. */
const COMMAND_LIMIT_MINUTES = 5;
/** Enough to build or pull all images on a slow machine. */
const UP_LIMIT_MINUTES = 25;
const MAX_OUTPUT_BYTES = 64 * 1024 ** 2;
const LINES_SHOWN = 40;
const MAX_RESTARTS = 5;
const MAX_REMOVALS = 3;

/** docker-compose.yml as a running system. Failed commands reject with the end of their output. */
export class ComposeStack {
  #build;
  #compose;
  #containers;
  #envFile;
  #env;
  #files;
  #scale;
  #signal;
  #volumes = new Set();

  /**
   * The images are built from the checkout, or, if `released` is true, those of the release. `env` overrides `envFile`. `replicas` are containers
   * per scaled service. The signal aborts all commands except `down`.
   */
  constructor({ commands, released, envFile, env, replicas, signal }) {
    this.#compose = commands.compose;
    this.#containers = commands.containers;
    this.#files = released ? ['docker-compose.yml'] : ['docker-compose.yml', 'infra/compose/build.yml'];
    this.#build = released ? [] : ['--build'];
    this.#envFile = envFile;
    this.#env = { ...process.env, ...(!released && { FRAMELANE_TAG: PROJECT }), ...env };
    this.#scale = Object.entries(replicas).flatMap(([service, count]) => ['--scale', `${service}=${count}`]);
    this.#signal = signal;
  }

  /** Builds or pulls the images, starts all containers and waits until they are healthy. */
  async up() {
    if ((await this.#remaining()).length > 0) await this.#run('down', '--volumes');
    await this.#run('up', '--detach', ...this.#build, '--wait', ...this.#scale);
  }

  /** Restarts all containers and waits until they are healthy. */
  async restart() {
    await this.#recordVolumes();
    for (let restarts = 1; ; restarts++) {
      const problem = await this.#tryRestart();
      if (problem === undefined) break;
      if (restarts === MAX_RESTARTS) throw new Error(problem);
      console.log(`  ${problem}\n  Restarting again …`);
    }
    await this.#run('up', '--detach', '--wait', ...this.#scale);
  }

  /**
   * Resolves with what went wrong, if anything. During a restart, the DNS server of podman's networks sometimes exits: then the command fails, or
   * no names are resolved afterwards. The next restart starts that server again, but may also end it.
   */
  async #tryRestart() {
    try {
      await this.#run('restart');
    } catch (error) {
      this.#signal?.throwIfAborted();
      return error.message;
    }
    return (await this.#hasNames()) ? undefined : 'The network resolves no names after the restart.';
  }

  /** Whether a running control plane can resolve the name of any other service. True as well if it does not run. */
  async #hasNames() {
    const lookups = `['postgres', 'rabbitmq'].map((name) => require('node:dns/promises').lookup(name))`;
    const lookup = `Promise.any(${lookups}).then(() => console.log('found'), () => console.log('none'))`;
    try {
      const [controlPlane] = await this.containers('control-plane');
      return (await this.exec(controlPlane, 'node', '-e', lookup)).trim() === 'found';
    } catch {
      return true;
    }
  }

  /** Runs an admin command in the control plane's container. Resolves with its result. */
  async admin(...args) {
    return JSON.parse(await this.#run('exec', '-T', 'control-plane', 'admin', ...args, '--json'));
  }

  /** The users that a program in a service's container prints, one per line. */
  async users(service, ...command) {
    const lines = (await this.#run('exec', '-T', service, ...command)).split('\n');
    return [...new Set(lines.map((line) => line.trim()).filter(Boolean))].sort();
  }

  /** The ids of a service's containers. */
  async containers(service) {
    const label = ['--filter', `label=com.docker.compose.service=${service}`];
    return words(await this.#container('ps', '--all', '--quiet', ...OF_PROJECT, ...label));
  }

  /** The log lines of a container for an event. */
  async logged(container, event) {
    return (await this.#logs(container))
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes(`"${event}"`))
      .map((line) => JSON.parse(line));
  }

  /** Runs a command in a container. Resolves with its output. */
  async exec(container, ...command) {
    return this.#container('exec', container, ...command);
  }

  /** Kills a container. */
  async kill(container) {
    await this.#container('kill', '--signal', 'KILL', container);
  }

  /** The end of every container's log. */
  async logTails() {
    const ids = words(await this.#container('ps', '--all', '--quiet', ...OF_PROJECT));
    const logs = ids.map(async (id) => {
      const name = await this.#container('inspect', '--format', '{{.Name}}', id);
      return `── ${name.trim()}\n${lastLines(await this.#logs(id))}`;
    });
    return (await Promise.all(logs)).join('\n');
  }

  /** Removes everything, volumes included. Resolves with what still exists after several tries: podman-compose passes over a busy volume. */
  async down() {
    this.#signal = undefined;
    await this.#recordVolumes();
    let remaining;
    for (let tries = 0; tries < MAX_REMOVALS && remaining?.length !== 0; tries++) {
      await this.#run('down', '--volumes');
      remaining = await this.#remaining();
    }
    return remaining;
  }

  /** The containers, networks and volumes that still exist. */
  async #remaining() {
    const volumes = words(await this.#container('volume', 'ls', '--quiet'));
    return [
      ...words(await this.#container('ps', '--all', '--quiet', ...OF_PROJECT)),
      ...words(await this.#container('network', 'ls', '--quiet', ...OF_PROJECT)),
      ...words(await this.#container('volume', 'ls', '--quiet', ...OF_PROJECT)),
      ...volumes.filter((name) => this.#volumes.has(name)),
    ];
  }

  /** Records the anonymous volumes, which are known only while their containers exist. */
  async #recordVolumes() {
    const ids = words(await this.#container('ps', '--all', '--quiet', ...OF_PROJECT));
    if (ids.length === 0) return;
    const mounted = await this.#container('inspect', '--format', VOLUMES, ...ids);
    for (const name of words(mounted)) this.#volumes.add(name);
  }

  async #logs(id) {
    const { stdout, stderr } = await this.#execute(this.#containers, ['logs', id]);
    return stdout + stderr;
  }

  async #container(...args) {
    return (await this.#execute(this.#containers, args)).stdout;
  }

  async #run(...args) {
    const files = this.#files.flatMap((file) => ['--file', file]);
    const project = [...files, '--project-name', PROJECT, '--env-file', this.#envFile];
    return (await this.#execute(this.#compose, [...project, ...args])).stdout;
  }

  async #execute([program, ...first], args) {
    const minutes = args.includes('up') ? UP_LIMIT_MINUTES : COMMAND_LIMIT_MINUTES;
    try {
      return await execute(program, [...first, ...args], {
        cwd: ROOT,
        env: this.#env,
        maxBuffer: MAX_OUTPUT_BYTES,
        timeout: minutes * 60_000,
        ...(this.#signal && { signal: this.#signal }),
      });
    } catch (error) {
      if (this.#signal?.aborted) throw this.#signal.reason;
      const output = lastLines(`${error.stdout ?? ''}${error.stderr ?? ''}`);
      const what = error.killed ? `took longer than ${minutes} minutes` : 'failed';
      throw new Error(`${[program, ...first, ...args].join(' ')} ${what}: ${output || error.message}`);
    }
  }
}

/** The commands `docker compose` and `docker`, or those that the environment sets. */
export function commandsFrom(env) {
  return {
    compose: words(env.COMPOSE_COMMAND || 'docker compose'),
    containers: words(env.CONTAINER_COMMAND || 'docker'),
  };
}

function words(text) {
  return text.split(/\s+/).filter(Boolean);
}

function lastLines(text) {
  return text.trimEnd().split('\n').slice(-LINES_SHOWN).join('\n');
}
