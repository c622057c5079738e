import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { READINESS_TIMEOUT_MS, readEngineConfig } from '../../services/engine/src/config.ts';
import { ROOT } from '../bootstrap/project.js';
import { imageOf, readAll, stopSeconds, variablesOf } from '../testing/service-settings.js';

const read = (path) => readFileSync(join(ROOT, path), 'utf8');
const file = read('docker-compose.yml');
const { services } = parse(file, { merge: true });

/** The services of Framelane, and the program that each runs: the name of its image. */
const SERVICES = ['control-plane', 'uploader', 'transcoder'];
const builds = parse(read('infra/compose/build.yml'), { merge: true }).services;
const programOf = (service) => builds[service].build.target;

/** Compose files for external systems, and the services that each of them replaces. */
const OWN = {
  'infra/compose/own-storage.yml': ['minio', 'bucket'],
  'infra/compose/own-database.yml': ['postgres'],
  'infra/compose/own-broker.yml': ['rabbitmq'],
};

/** The variables that compose requires. */
const required = [...file.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name);

/** Runs make-env.js, once or several times on the same file. */
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

/** The environment of a service's container: that of its image and that of compose. */
function environmentOf(service, env) {
  const values = Object.entries(services[service].environment).map(([name, value]) => [
    name,
    value === null
      ? env[name]
      : String(value).replace(
          /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
          // With a colon, an empty variable counts as unset.
          (_, key, kind, text) => (kind ? env[key] || (kind === '-' ? text : undefined) : env[key]),
        ),
  ]);
  return { ...(builds[service] && imageOf(programOf(service)).env), ...Object.fromEntries(values) };
}

test('make-env.js generates every secret, in a file that only its owner can read', () => {
  const { env, mode } = makeEnv();
  expect(Object.entries(env).filter(([, value]) => value === '')).toEqual([]);
  expect(mode).toBe(0o600);
  expect(Object.keys(env)).toEqual(expect.arrayContaining(required));
});

test('compose requires every secret, and says how to create the .env', () => {
  const secrets = [...file.matchAll(/\$\{(\w*(?:PASSWORD|SECRET|KEY)\w*)/g)].map(([, name]) => name);
  expect(new Set(required)).toEqual(new Set(secrets));
  const advice = [...file.matchAll(/:\?([^}]+)\}/g)].map(([, text]) => text);
  expect(new Set(advice)).toEqual(new Set(['create the .env first with node infra/compose/make-env.js']));
});

test('make-env.js generates different secrets each time, and keeps an existing file', () => {
  const secrets = ({ env }) => [env.POSTGRES_PASSWORD, env.CONTENT_KEY_SECRET, env.SERVICE_SECRET];
  const [one, other] = [secrets(makeEnv()), secrets(makeEnv())];
  expect(new Set([...one, ...other]).size).toBe(6);
  const { runs } = makeEnv(2);
  expect(runs.map(({ status }) => status)).toEqual([0, 1]);
  expect(runs[1].stderr).toContain('already exists');
});

test('make-env.js adds missing variables and empty secrets to an older .env, and keeps its values', () => {
  const folder = mkdtempSync(join(tmpdir(), 'compose-test-'));
  try {
    const path = join(folder, '.env');
    writeFileSync(path, 'PUBLIC_URL=https://video.example.com\nSERVICE_SECRET=\nPOSTGRES_PASSWORD=kept');
    const { status, stdout } = spawnSync(process.execPath, [join(ROOT, 'infra/compose/make-env.js'), path], {
      encoding: 'utf8',
    });
    const names = [...readFileSync(path, 'utf8').matchAll(/^(\w+)=(.+)$/gm)];
    const env = Object.fromEntries(names.map(([, name, value]) => [name, value]));
    expect(status).toBe(0);
    expect(env).toMatchObject({ PUBLIC_URL: 'https://video.example.com', POSTGRES_PASSWORD: 'kept' });
    expect(Object.keys(env)).toEqual(expect.arrayContaining(required));
    expect(names).toHaveLength(Object.keys(env).length);
    expect(stdout).toContain('MINIO_ROOT_PASSWORD');
    expect(stdout).not.toContain(env.MINIO_ROOT_PASSWORD);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('compose passes on every variable of .env.example', () => {
  // COMPOSE_FILE is for compose itself.
  const files = [file, 'COMPOSE_FILE:', ...Object.keys(OWN).map(read)].join('\n');
  const passedOn = [...files.matchAll(/\$\{(\w+)|^\s*([A-Z][A-Z0-9_]+):$/gm)].map(([, a, b]) => a ?? b);
  expect(new Set(offered())).toEqual(new Set(passedOn));
});

/** The variables of .env.example, including those that are commented out. */
function offered() {
  return [...read('.env.example').matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name);
}

test.each(['control-plane', 'engine'])('every documented setting of the %s can be set in .env', (program) => {
  const documented = new Set(
    read('docs/configuration.md')
      .match(/`[A-Z][A-Z0-9_]+`/g)
      .map((name) => name.slice(1, -1)),
  );
  const settings = [...variablesOf(program)].filter((name) => documented.has(name));
  // Fixed by the image, compose or the gateway: roles, addresses within the network and ports of the containers.
  const given = ['ENGINE_ROLES', 'CONTROL_PLANE_INTERNAL_URL', 'TRUST_PROXY'];
  const fixed = [...Object.keys(imageOf(program).env), ...given];
  const passed = SERVICES.filter((service) => programOf(service) === program).flatMap((service) =>
    Object.keys(services[service].environment),
  );
  expect(settings.filter((name) => !fixed.includes(name) && !passed.includes(name))).toEqual(
    // Engines create no presigned URLs.
    program === 'engine' ? ['S3_PUBLIC_ENDPOINT'] : [],
  );
  const settable = passed.filter((name) => !fixed.includes(name));
  expect(settable.filter((name) => !offered().includes(name))).toEqual([]);
});

test('control planes and engines have separate users without administrator rights', () => {
  const { env } = makeEnv();
  const given = (service) => environmentOf(service, env);
  const userOf = (url) => new URL(url).username;
  const administrators = [
    given('minio').MINIO_ROOT_USER,
    given('postgres').POSTGRES_USER,
    // The administrator in definitions.sh.
    /"name": "(\S+)".*"tags": "administrator"/.exec(read('infra/rabbitmq/definitions.sh'))[1],
  ];
  const users = SERVICES.flatMap((service) => [
    given(service).S3_ACCESS_KEY_ID,
    userOf(given(service).AMQP_URL),
  ]);
  users.push(userOf(given('control-plane').DATABASE_URL));
  expect(users.filter((user) => administrators.includes(user))).toEqual([]);
  const [controlPlane, ...engines] = SERVICES.map((service) => {
    const { AMQP_URL, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = given(service);
    return [AMQP_URL, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY];
  });
  expect(engines.flat().filter((value) => controlPlane.includes(value))).toEqual([]);
  for (const service of SERVICES) {
    const rootSecrets = [env.MINIO_ROOT_PASSWORD, env.POSTGRES_PASSWORD, env.RABBITMQ_PASSWORD];
    const values = Object.values(given(service)).join('\n');
    expect(rootSecrets.filter((secret) => values.includes(secret))).toEqual([]);
  }
});

/** The action that a policy must allow for a request, by the command of the SDK without "Command". */
const ACTIONS = {
  AbortMultipartUpload: 's3:AbortMultipartUpload',
  CompleteMultipartUpload: 's3:PutObject',
  CreateMultipartUpload: 's3:PutObject',
  DeleteObject: 's3:DeleteObject',
  DeleteObjects: 's3:DeleteObject',
  GetObject: 's3:GetObject',
  HeadBucket: 's3:ListBucket',
  HeadObject: 's3:GetObject',
  ListMultipartUploads: 's3:ListBucketMultipartUploads',
  ListParts: 's3:ListMultipartUploadParts',
  PutObject: 's3:PutObject',
  UploadPart: 's3:PutObject',
};

describe('set-up.sh configures the storage', () => {
  /**
   * Runs the script with a fake `mc` that records its arguments and the policies, and without pauses. The options are the scripts
   * of `mc` for creating the bucket and for attaching a policy. `$CALLS` is the file with its calls.
   */
  function setUp({ mb = 'true', attach = 'true' } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'compose-test-'));
    try {
      const mc = [
        ...['#!/bin/sh', `CALLS=${folder}/calls`, 'echo "$*" >>"$CALLS"'],
        ...['case "$*" in', `mb*) ${mb} ;;`, `*" attach "*) ${attach} ;;`, 'esac'],
      ];
      writeFileSync(join(folder, 'mc'), `${mc.join('\n')}\n`, { mode: 0o755 });
      writeFileSync(join(folder, 'sleep'), '#!/bin/sh\n', { mode: 0o755 });
      const given = environmentOf('bucket', makeEnv().env);
      const { status, stderr } = spawnSync('sh', [join(ROOT, 'infra/storage/set-up.sh')], {
        encoding: 'utf8',
        env: { ...given, PATH: `${folder}:${process.env.PATH}`, TMPDIR: folder },
      });
      const calls = readFileSync(join(folder, 'calls'), 'utf8').replaceAll(/[0-9a-f]{48}/g, 'SECRET');
      const policies = ['control-plane', 'engine'].map((name) => {
        const path = join(folder, `framelane-${name}.json`);
        return existsSync(path) && JSON.parse(readFileSync(path, 'utf8'));
      });
      return { status, stderr, calls: calls.trimEnd().split('\n'), policies };
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  test('with a bucket, and users with access to that bucket only', () => {
    const { status, calls, policies } = setUp();
    expect(status).toBe(0);
    expect(calls.filter((call) => !call.startsWith('admin policy create'))).toEqual([
      'mb --ignore-existing store/framelane',
      'admin user add store control-plane SECRET',
      'admin policy attach store framelane-control-plane --user control-plane',
      'admin user add store engine SECRET',
      'admin policy attach store framelane-engine --user engine',
    ]);
    const actions = policies.map(({ Statement }) => Statement.flatMap(({ Action }) => Action));
    expect(actions[0]).not.toContain('s3:PutObject');
    expect(actions.flat().filter((action) => action.includes('*'))).toEqual([]);
    const resources = policies.flatMap(({ Statement }) => Statement.flatMap(({ Resource }) => Resource));
    expect(new Set(resources)).toEqual(new Set(['arn:aws:s3:::framelane', 'arn:aws:s3:::framelane/*']));
  });

  test('with the permissions for all requests of the object store, which the deployment guide lists, too', () => {
    const folder = join(ROOT, 'packages/object-store/src');
    const sources = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
    const commands = sources
      .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/new (\w+)Command\(/g)])
      .map(([, name]) => name);
    const needed = new Set(commands.map((name) => ACTIONS[name] ?? `the action of ${name}`));
    const actions = setUp().policies.map(
      ({ Statement }) => new Set(Statement.flatMap(({ Action }) => Action)),
    );
    // Only control planes look for unfinished uploads.
    needed.delete('s3:ListBucketMultipartUploads');
    expect(actions[1]).toEqual(needed);
    expect(actions[0]).toContain('s3:ListBucketMultipartUploads');
    const guide = read('docs/deployment.md');
    expect([...actions[0], ...actions[1]].filter((action) => !guide.includes(`\`${action}\``))).toEqual([]);
  });

  test('idempotently, and fails when a policy is refused', () => {
    const again = 'echo "mc: The specified policy change is already in effect." >&2; exit 1';
    expect(setUp({ attach: again }).status).toBe(0);
    expect(setUp({ attach: 'echo "mc: No such user." >&2; exit 1' })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('No such user'),
    });
  });

  test('when the store can be reached after a while, and fails when it never can', () => {
    const unreachable = 'echo "mc: Temporary failure in name resolution" >&2; exit 1';
    const later = `[ "$(grep -c ^mb "$CALLS")" -ge 3 ] || { ${unreachable}; }`;
    const { status, calls } = setUp({ mb: later });
    expect([status, calls.filter((call) => call.startsWith('mb')).length]).toEqual([0, 3]);
    const never = setUp({ mb: unreachable });
    expect(never).toMatchObject({ status: 1, stderr: expect.stringContaining('name resolution') });
    expect(never.calls.filter((call) => !call.startsWith('mb'))).toEqual([]);
  });
});

test('every container has limits, and its logs are rotated', () => {
  for (const [name, service] of Object.entries(services)) {
    expect({ name, ...service }).toMatchObject({
      mem_limit: expect.anything(),
      cpus: expect.anything(),
      pids_limit: expect.anything(),
      logging: {
        driver: 'json-file',
        options: { 'max-size': expect.anything(), 'max-file': expect.anything() },
      },
    });
  }
});

test('every image has an exact version', () => {
  const images = Object.values(services).map(({ image }) => image.replace(/\$\{\w+:-([^}]*)\}/g, '$1'));
  images.push(
    ...[...read('infra/docker/Dockerfile').matchAll(/^ARG \w+_IMAGE=(.+)$/gm)].map(([, image]) => image),
  );
  expect(images.filter((image) => !/:(v?\d+\.\d+|RELEASE\.\d{4}-)\S*$/.test(image))).toEqual([]);
  const { version } = JSON.parse(read('package.json'));
  for (const service of ['gateway', ...SERVICES]) {
    const image = `framelane/${programOf(service)}:\${FRAMELANE_TAG:-${version}}`;
    expect(services[service].image).toBe(`ghcr.io/${image}`);
    expect(builds[service].image).toBe(image);
  }
});

test('build.yml builds every image of Framelane, and no service is built otherwise', () => {
  const ours = Object.keys(services).filter((name) => services[name].image.includes('/framelane/'));
  expect(Object.keys(builds).toSorted()).toEqual(ours.toSorted());
  for (const name of Object.keys(services)) expect(services[name]).not.toHaveProperty('build');
});

test.each(Object.entries(OWN))('%s replaces a bundled service', (path, replaced) => {
  const own = parse(read(path)).services;
  for (const name of replaced) expect(own[name].profiles).toHaveLength(1);
  for (const name of Object.keys(services)) {
    const needed = Object.keys(services[name].depends_on ?? {}).filter((other) => replaced.includes(other));
    if (replaced.includes(name)) continue;
    for (const other of needed) {
      const condition = { ...services[name].depends_on[other], required: false };
      expect(own[name].depends_on[other]).toEqual(condition);
    }
  }
});

test('the gateway waits longer than a readiness check takes', () => {
  const [, seconds] = /^ {2}timeout check (\d+)s$/m.exec(read('infra/docker/haproxy.cfg'));
  expect(1000 * Number(seconds)).toBeGreaterThan(READINESS_TIMEOUT_MS);
});

test.each(SERVICES)('the %s reads all variables it gets, and gets all it requires', (service) => {
  const { environment } = services[service];
  expect(Object.keys(environment).filter((name) => !variablesOf(programOf(service)).has(name))).toEqual([]);
  expect(() => readAll(programOf(service), environmentOf(service, makeEnv().env))).not.toThrow();
});

test('uploads and transcodes have containers of their own', () => {
  const { env } = makeEnv();
  const rolesOf = (service) => readEngineConfig(environmentOf(service, env)).roles;
  expect([rolesOf('uploader'), rolesOf('transcoder')]).toEqual([['upload'], ['transcode']]);
  expect(services.gateway.depends_on).toHaveProperty('uploader');
  expect(imageOf('gateway').env.ENGINE).toBe(`uploader:${imageOf('engine').ports[0]}`);
});

test.each(SERVICES)(
  'the %s has enough time to stop, and an uploader also to drain for an hour',
  (service) => {
    const env = { ...makeEnv().env, UPLOAD_DRAIN_SECONDS: '3600' };
    const needed = stopSeconds(programOf(service), environmentOf(service, env));
    expect(Number.parseInt(services[service].stop_grace_period, 10)).toBeGreaterThan(needed);
  },
);

test('the gateway waits longer for uploads than the uploader behind it', () => {
  const uploader = environmentOf('uploader', { ...makeEnv().env, UPLOAD_DRAIN_SECONDS: '3600' });
  const [, program] = /(\(\([^)]*\)\))/.exec(imageOf('gateway').command);
  const hardStop = (seconds) =>
    Number(
      execFileSync('sh', ['-c', `echo $${program}`], {
        env: seconds === undefined ? {} : { UPLOAD_DRAIN_SECONDS: seconds },
        encoding: 'utf8',
      }),
    );
  expect(hardStop('3600')).toBeGreaterThan(stopSeconds('engine', uploader));
  expect(hardStop(undefined)).toBe(45);
  expect(services.gateway.environment).toHaveProperty('UPLOAD_DRAIN_SECONDS');
  // nginx ends before HAProxy is stopped.
  const [, nginx] = /worker_shutdown_timeout (\d+)s;/.exec(read('infra/docker/nginx.conf'));
  expect(Number.parseInt(services.gateway.stop_grace_period, 10)).toBeGreaterThan(
    Number(nginx) + hardStop('3600'),
  );
});

test('no container has unnecessary privileges', () => {
  for (const [name, service] of Object.entries(services)) {
    expect({ name, ...service }).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service).not.toHaveProperty('privileged');
    expect(service.cap_add ?? []).toEqual(name === 'minio' ? ['SETGID', 'SETUID'] : []);
  }
});

test.each(['uploader', 'transcoder'])(
  'the %s does not get the secret that encrypts content keys',
  (service) => {
    expect(services['control-plane'].environment).toHaveProperty('CONTENT_KEY_SECRET');
    expect(services[service].environment).not.toHaveProperty('CONTENT_KEY_SECRET');
  },
);

test('engines cannot reach the database and share no folder', () => {
  expect(services.postgres.networks).toEqual(['database']);
  for (const service of ['uploader', 'transcoder']) {
    expect(services[service].networks).toBeUndefined();
    expect(services[service].volumes).toBeUndefined();
  }
  expect(imageOf('engine').volumes).toEqual([imageOf('engine').env.ENGINE_WORK_DIR]);
});

test('only the gateway can be reached from other machines', () => {
  const { gateway, ...others } = services;
  const published = Object.entries(others).flatMap(([name, { ports = [] }]) =>
    ports.map((port) => `${name} ${port}`),
  );
  expect(published.filter((port) => !/^\S+ 127\.0\.0\.1:/.test(port))).toEqual([]);
  expect(gateway.ports).toHaveLength(2);
  for (const port of gateway.ports) expect(port).toMatch(/^\$\{BIND_ADDRESS:-127\.0\.0\.1\}:/);
});
