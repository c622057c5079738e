import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAmqpUrl, readS3Settings } from '../../packages/service-kit/src/connection-settings.ts';
import { readTraceSettings } from '../../packages/service-kit/src/trace-settings.ts';
import { TRACES_STOP_MS } from '../../packages/service-kit/src/tracing.ts';
import { readControlPlaneConfig } from '../../services/control-plane/src/config.ts';
import { STOP_LIMIT_MS } from '../../services/control-plane/src/stop-limits.ts';
import { readEngineConfig } from '../../services/engine/src/config.ts';
import { stopLimitMs } from '../../services/engine/src/engine.ts';
import { ROOT } from '../bootstrap/project.js';

/** Where each service says how long the phases of its stop may take. */
const PROGRAMS = { 'control-plane': 'run-control-plane.ts', engine: 'run-engine.ts' };

const READERS = { 'control-plane': readControlPlaneConfig, engine: readEngineConfig };

/** Values for the secrets that operators fill in. */
export const SECRETS = {
  AMQP_URL: 'amqp://user:password@rabbitmq:5672/framelane',
  DATABASE_URL: 'postgres://user:password@postgres:5432/framelane',
  S3_ACCESS_KEY_ID: 'key',
  S3_SECRET_ACCESS_KEY: 'secret',
  SERVICE_SECRET: 's'.repeat(32),
  CONTENT_KEY_SECRET: Buffer.alloc(32).toString('base64'),
};

/** The variables that the sources of a service read. */
export function variablesOf(service) {
  const shared = ['connection-settings', 'trace-settings'].map(
    (name) => `packages/service-kit/src/${name}.ts`,
  );
  const sources = [`services/${service}/src/config.ts`, ...shared];
  const text = sources.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
  return new Set([...text.matchAll(/\b([A-Z][A-Z0-9_]+): \w+\s*[.(]/g)].map(([, name]) => name));
}

/** Reads an environment like the service at its start. Throws the same errors. */
export function readAll(service, env) {
  readAmqpUrl(env);
  readS3Settings(env);
  readTraceSettings(env);
  return READERS[service](env);
}

/** Time limit of a graceful stop in this environment, in seconds. */
export function stopSeconds(service, env) {
  const program = readFileSync(join(ROOT, `services/${service}/src/${PROGRAMS[service]}`), 'utf8');
  const computed = {
    STOP_LIMIT_MS: () => STOP_LIMIT_MS,
    'stopLimitMs(config)': () => stopLimitMs(readEngineConfig(env)),
  };
  const limits = [...program.matchAll(/limitMs: ([^,]+),/g)].map(([, limit]) =>
    limit in computed ? computed[limit]() : Number(limit.replaceAll('_', '')),
  );
  if (limits.length === 0) throw new Error(`No time limits in the program of ${service}`);
  return limits.reduce((sum, limit) => sum + limit, TRACES_STOP_MS) / 1000;
}

/** Variables, ports, volumes and command of an image, by its target in the Dockerfile. */
export function imageOf(target) {
  const text = readFileSync(join(ROOT, 'infra/docker/Dockerfile'), 'utf8').replace(/\\\n/g, ' ');
  const stage = text.split(/^FROM /m).find((lines) => new RegExp(`^\\S+ AS ${target}\\n`).test(lines));
  const words = (keyword) =>
    [...stage.matchAll(new RegExp(`^${keyword} (.+)$`, 'gm'))].flatMap(([, rest]) =>
      rest.trim().split(/\s+/),
    );
  return {
    env: Object.fromEntries(words('ENV').map((pair) => pair.split(/=(.*)/s).slice(0, 2))),
    ports: words('EXPOSE').map(Number),
    volumes: words('VOLUME'),
    command: words('CMD').join(' '),
  };
}
