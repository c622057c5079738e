import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/project.js';
import { imageOf, readAll, stopSeconds, variablesOf } from '../testing/service-settings.js';

const file = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
const { services } = parse(file, { merge: true });

/** The variables without which compose does nothing. */
const demanded = [...file.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);

/** An .env as it is made for people, and what came of it. */
function makeEnv(times = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'compose-test-'));
  try {
    const path = join(folder, '.env');
    const runs = Array.from({ length: times }, () =>
      spawnSync(process.execPath, [join(ROOT, 'infra/compose/make-env.js'), path], { encoding: 'utf8' }),
    );
    const text = readFileSync(path, 'utf8');
    const env = Object.fromEntries(text.match(/^\w+=.*$/gm).map((line) => line.split(/=(.*)/s).slice(0, 2)));
    return { runs, env, mode: statSync(path).mode & 0o777 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The environment of a service's container: what its image sets, and what compose lays over it. */
function environmentOf(service, env) {
  const values = Object.entries(services[service].environment).map(([name, value]) => [
    name,
    value === null ? env[name] : String(value).replace(/\$\{(\w+)(?::[-?][^}]*)?\}/g, (_, key) => env[key]),
  ]);
  return { ...imageOf(service).env, ...Object.fromEntries(values) };
}

test('an .env that is made has every secret, for its owner alone', () => {
  const { env, mode } = makeEnv();
  expect(Object.entries(env).filter(([, value]) => value === '')).toEqual([]);
  expect(mode).toBe(0o600);
  expect(Object.keys(env)).toEqual(expect.arrayContaining(demanded));
});

test('without an .env nothing starts, and it is said how to make one', () => {
  const secrets = [...file.matchAll(/\$\{(\w*(?:PASSWORD|SECRET|KEY)\w*)/g)].map(([, name]) => name);
  expect(new Set(demanded)).toEqual(new Set(secrets));
  const advice = [...file.matchAll(/:\?([^}]+)\}/g)].map(([, text]) => text);
  expect(new Set(advice)).toEqual(new Set(['make an .env first with node infra/compose/make-env.js']));
});

test('no two are alike, and one that is there is kept', () => {
  const secrets = ({ env }) => [env.POSTGRES_PASSWORD, env.CONTENT_KEY_SECRET, env.SERVICE_SECRET];
  const [one, other] = [secrets(makeEnv()), secrets(makeEnv())];
  expect(new Set([...one, ...other]).size).toBe(6);
  const { runs } = makeEnv(2);
  expect(runs.map(({ status }) => status)).toEqual([0, 1]);
  expect(runs[1].stderr).toContain('there already');
});

test('what .env.example offers is something that compose passes on', () => {
  const example = readFileSync(join(ROOT, '.env.example'), 'utf8');
  const offered = [...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name);
  const passedOn = [...file.matchAll(/\$\{(\w+)|^\s+([A-Z][A-Z0-9_]+):$/gm)].map(([, a, b]) => a ?? b);
  expect(offered.filter((name) => !passedOn.includes(name))).toEqual([]);
});

test.each(['control-plane', 'engine'])('the %s reads all it is given, and misses nothing', (service) => {
  const { environment } = services[service];
  expect(Object.keys(environment).filter((name) => !variablesOf(service).has(name))).toEqual([]);
  expect(() => readAll(service, environmentOf(service, makeEnv().env))).not.toThrow();
});

test.each(['control-plane', 'engine'])('the %s has the time it needs to stop', (service) => {
  expect(Number.parseInt(services[service].stop_grace_period, 10)).toBeGreaterThan(stopSeconds(service));
});

test('no container has a privilege it can do without', () => {
  for (const [name, service] of Object.entries(services)) {
    expect({ name, ...service }).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  }
});

test('engines get no secret that seals content keys', () => {
  expect(services['control-plane'].environment).toHaveProperty('CONTENT_KEY_SECRET');
  expect(services.engine.environment).not.toHaveProperty('CONTENT_KEY_SECRET');
});

test('engines neither reach the database nor share a folder', () => {
  expect(services.postgres.networks).toEqual(['database']);
  expect(services.engine.networks).toBeUndefined();
  expect(services.engine.volumes).toBeUndefined();
  expect(imageOf('engine').volumes).toEqual([imageOf('engine').env.ENGINE_WORK_DIR]);
});

test('nothing but the gateway can be reached from elsewhere', () => {
  const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => `${name} ${port.replace(/\$\{\w+:-([^}]*)\}/g, '$1')}`),
  );
  expect(published.filter((port) => !/^\S+ 127\.0\.0\.1:/.test(port))).toEqual([]);
  expect(services.gateway.ports[0]).toMatch(/^\$\{BIND_ADDRESS:-127\.0\.0\.1\}:/);
});
