import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { isInPath } from '../../packages/framelane/src/machine/missing-programs.js';
import { requires } from '../../packages/test-kit/src/requires.ts';
import { ROOT } from '../bootstrap/project.js';
import { readAll, stopSeconds, variablesOf } from '../testing/service-settings.js';

const SERVICES = ['control-plane', 'engine'];

const read = (name) => readFileSync(join(import.meta.dirname, name), 'utf8');
const unitOf = (service) => read(`framelane-${service}.service`);
const optionOf = (service, option) => new RegExp(`^${option}=(.*)$`, 'm').exec(unitOf(service))?.[1];

/** Values for the variables that operators fill in. */
const FILLED_IN = {
  AMQP_URL: 'amqp://user:password@localhost:5672/framelane',
  DATABASE_URL: 'postgres://user:password@localhost:5432/framelane',
  S3_ACCESS_KEY_ID: 'key',
  S3_SECRET_ACCESS_KEY: 'secret',
  SERVICE_SECRET: 's'.repeat(32),
  CONTENT_KEY_SECRET: Buffer.alloc(32).toString('base64'),
};

/** The variables of an example file, filled in. */
function environmentOf(service) {
  const pairs = [...read(`${service}.env.example`).matchAll(/^(\w+)=(.*)$/gm)];
  return Object.fromEntries(pairs.map(([, name, value]) => [name, value || FILLED_IN[name]]));
}

const analyze = requires(
  'systemd-analyze',
  isInPath('systemd-analyze') ? null : 'systemd-analyze is not installed',
);
analyze.test.each(SERVICES)('systemd finds nothing wrong in the unit of the %s', (service) => {
  const folder = mkdtempSync(join(tmpdir(), 'framelane-systemd-'));
  try {
    const unit = join(folder, `framelane-${service}.service`);
    // It also wants the program to exist on this machine.
    writeFileSync(unit, unitOf(service).replace('/usr/bin/node', process.execPath));
    const output = execFileSync('sh', ['-c', 'systemd-analyze verify --man=no "$1" 2>&1', 'sh', unit], {
      encoding: 'utf8',
    });
    expect(output.split('\n').filter((line) => line.includes('framelane'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each(SERVICES)(
  'the unit of the %s starts its program, with the time that it needs to stop',
  (service) => {
    expect(optionOf(service, 'WorkingDirectory')).toBe(`/opt/framelane/services/${service}`);
    expect(optionOf(service, 'ExecStart')).toBe('/usr/bin/node --disable-sigusr1 src/main.ts');
    expect(existsSync(join(ROOT, 'services', service, 'src/main.ts'))).toBe(true);
    const longest = {
      ...environmentOf(service),
      ...(service === 'engine' && { UPLOAD_DRAIN_SECONDS: '3600' }),
    };
    expect(Number(optionOf(service, 'TimeoutStopSec'))).toBeGreaterThan(stopSeconds(service, longest));
  },
);

test.each(SERVICES)('the %s reads the example of its settings', (service) => {
  expect(optionOf(service, 'EnvironmentFile')).toBe(`/etc/framelane/${service}.env`);
  const environment = environmentOf(service);
  expect(Object.keys(environment).filter((name) => !variablesOf(service).has(name))).toEqual([]);
  expect(() => readAll(service, environment)).not.toThrow();
});

test('each service has a user of its own', () => {
  const users = SERVICES.map((service) => optionOf(service, 'User'));
  expect(new Set(users).size).toBe(2);
  for (const user of users) expect(read('framelane.sysusers')).toMatch(new RegExp(`^u ${user} `, 'm'));
});
