import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isInPath } from '../../packages/framelane/src/machine/missing-programs.js';
import { createProgram } from '../../packages/framelane/src/program.ts';
import { POSTGRES_STOP_MS } from '../../packages/single-node/src/postgres/postmaster.ts';
import { requires } from '../../packages/test-kit/src/requires.ts';
import { readAll, SECRETS, stopSeconds, variablesOf } from '../testing/service-settings.js';

const SERVICES = ['control-plane', 'engine'];

const read = (name) => readFileSync(join(import.meta.dirname, name), 'utf8');
const unitOf = (service) => read(`framelane-${service}.service`);
const optionOf = (service, option) => new RegExp(`^${option}=(.*)$`, 'm').exec(unitOf(service))?.[1];

/** The variables of an example file, filled in. */
function environmentOf(service) {
  const pairs = [...read(`${service}.env.example`).matchAll(/^(\w+)=(.*)$/gm)];
  return Object.fromEntries(pairs.map(([, name, value]) => [name, value || SECRETS[name]]));
}

/** The names of the units, and the command of each. */
const UNITS = {
  framelane: 'start',
  ...Object.fromEntries(SERVICES.map((service) => [`framelane-${service}`, service])),
};

const analyze = requires(
  'systemd-analyze',
  isInPath('systemd-analyze') ? null : 'systemd-analyze is not installed',
);
analyze.test.each(Object.keys(UNITS))('systemd finds nothing wrong in the unit %s', (name) => {
  const folder = mkdtempSync(join(tmpdir(), 'framelane-systemd-'));
  try {
    const unit = join(folder, `${name}.service`);
    // It also wants the program to exist on this machine.
    writeFileSync(unit, read(`${name}.service`).replace('=framelane ', `=${process.execPath} `));
    const output = execFileSync('sh', ['-c', 'systemd-analyze verify --man=no "$1" 2>&1', 'sh', unit], {
      encoding: 'utf8',
    });
    expect(output.split('\n').filter((line) => line.includes('framelane'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(Object.entries(UNITS))('the unit %s runs framelane %s', (name, command) => {
  expect(/^ExecStart=(.*)$/m.exec(read(`${name}.service`))?.[1]).toBe(`framelane ${command}`);
  expect(createProgram().commands.map((each) => each.name())).toContain(command);
});

test.each(SERVICES)('the unit of the %s gives it the time that it needs to stop', (service) => {
  const longest = {
    ...environmentOf(service),
    ...(service === 'engine' && { UPLOAD_DRAIN_SECONDS: '3600' }),
  };
  expect(Number(optionOf(service, 'TimeoutStopSec'))).toBeGreaterThan(stopSeconds(service, longest));
});

test('the unit of a single node gives it the time that it needs to stop', () => {
  const [, limit] = /^TimeoutStopSec=(\d+)$/m.exec(read('framelane.service')) ?? [];
  const engine = stopSeconds('engine', { ...environmentOf('engine'), UPLOAD_DRAIN_SECONDS: '3600' });
  const others = stopSeconds('control-plane', environmentOf('control-plane'));
  // The page builds and the data directory are beside them.
  expect(Number(limit)).toBeGreaterThan(engine + others + POSTGRES_STOP_MS / 1000 + 6);
});

test.each(SERVICES)('the %s reads the example of its settings', (service) => {
  expect(optionOf(service, 'EnvironmentFile')).toBe(`/etc/framelane/${service}.env`);
  const environment = environmentOf(service);
  expect(Object.keys(environment).filter((name) => !variablesOf(service).has(name))).toEqual([]);
  expect(() => readAll(service, environment)).not.toThrow();
});

test('each unit has a user of its own', () => {
  const users = Object.keys(UNITS).map((name) => /^User=(.*)$/m.exec(read(`${name}.service`))?.[1]);
  expect(new Set(users).size).toBe(3);
  for (const user of users) expect(read('framelane.sysusers')).toMatch(new RegExp(`^u ${user} `, 'm'));
});
