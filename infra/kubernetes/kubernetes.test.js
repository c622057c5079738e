import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { isAllowedAddress, readRanges } from '../../packages/address-guard/src/address-ranges.ts';
import { QUEUES } from '../../packages/contracts/src/topology.ts';
import { isInPath } from '../../packages/framelane/src/machine/missing-programs.js';
import { requires } from '../../packages/test-kit/src/requires.ts';
import { READINESS_TIMEOUT_MS, readEngineConfig } from '../../services/engine/src/config.ts';
import { ROOT } from '../bootstrap/project.js';
import { renderKustomization } from '../testing/kustomize.js';
import { imageOf, readAll, SECRETS, stopSeconds, variablesOf } from '../testing/service-settings.js';

/** The deployments, and the program that each runs: the name of its image. */
const PROGRAMS = { 'control-plane': 'control-plane', uploader: 'engine', transcoder: 'engine' };
const SERVICES = Object.keys(PROGRAMS);
const ENGINES = ['uploader', 'transcoder'];

/** Values for the variables that operators fill in. */
const FILLED_IN = { ...SECRETS, host: 'http://user:password@rabbitmq:15672/framelane' };

/** A copy of this folder in which an operator has filled in the secrets. */
const folder = mkdtempSync(join(tmpdir(), 'framelane-kubernetes-'));
for (const name of readdirSync(import.meta.dirname)) {
  const path = join(import.meta.dirname, name);
  if (!name.endsWith('.example')) copyFileSync(path, join(folder, name));
  else {
    const filledIn = readFileSync(path, 'utf8').replace(/^(\w+)=$/gm, (_, key) => `${key}=${FILLED_IN[key]}`);
    writeFileSync(join(folder, name.replace(/\.example$/, '')), filledIn);
  }
}
afterAll(() => rmSync(folder, { recursive: true }));

const objects = renderKustomization(folder);
const findNamed = (kind, name) =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);
const find = (kind, service) => findNamed(kind, `framelane-${service}`);
const containerOf = (service) => find('Deployment', service).spec.template.spec.containers[0];

/** The labels of a service's pods. */
const labelsOf = (service) => ({
  'app.kubernetes.io/name': 'framelane',
  'app.kubernetes.io/instance': 'framelane',
  'app.kubernetes.io/component': service,
});

/** The variables of a ConfigMap or a Secret. */
function variablesIn({ kind, data }) {
  const values = Object.entries(data);
  if (kind === 'ConfigMap') return data;
  return Object.fromEntries(values.map(([name, value]) => [name, Buffer.from(value, 'base64').toString()]));
}

/** The environment of a service's container: that of its image and that of its pod. */
function environmentOf(service) {
  const given = containerOf(service).envFrom.map(({ configMapRef, secretRef }) =>
    configMapRef ? findNamed('ConfigMap', configMapRef.name) : findNamed('Secret', secretRef.name),
  );
  return Object.assign({}, imageOf(PROGRAMS[service]).env, ...given.map(variablesIn));
}

const kubectl = requires('kubectl', isInPath('kubectl') ? null : 'kubectl is not installed');
kubectl.test('kubectl renders the same objects', () => {
  const text = execFileSync('kubectl', ['kustomize', folder], { encoding: 'utf8' });
  const byName = ({ kind, metadata }) => `${kind} ${metadata.name}`;
  const sorted = (list) => list.toSorted((a, b) => (byName(a) < byName(b) ? -1 : 1));
  expect(sorted(objects)).toEqual(sorted(parseAllDocuments(text).map((document) => document.toJS())));
});

test('every file in this folder is used', () => {
  const kustomization = parse(readFileSync(join(folder, 'kustomization.yaml'), 'utf8'));
  const generated = [...kustomization.configMapGenerator, ...kustomization.secretGenerator];
  const used = [...kustomization.resources, ...generated.flatMap(({ envs }) => envs)];
  const others = ['kustomization.yaml', 'kubernetes.test.js', 'chart-values.yaml'];
  expect(
    readdirSync(folder)
      .filter((name) => !others.includes(name))
      .sort(),
  ).toEqual(used.sort());
});

test('every object is in the namespace, and every ConfigMap and Secret is used under its name', () => {
  const [{ metadata: namespace }] = objects.filter(({ kind }) => kind === 'Namespace');
  const others = objects.filter(({ kind }) => kind !== 'Namespace');
  expect(new Set(others.map(({ metadata }) => metadata.namespace))).toEqual(new Set([namespace.name]));
  const references = [
    ...SERVICES.flatMap((service) => containerOf(service).envFrom).map(({ configMapRef, secretRef }) =>
      configMapRef ? `ConfigMap ${configMapRef.name}` : `Secret ${secretRef.name}`,
    ),
    ...find('TriggerAuthentication', 'rabbitmq-management').spec.secretTargetRef.map(
      ({ name }) => `Secret ${name}`,
    ),
  ];
  const configuration = objects.filter(({ kind }) => ['ConfigMap', 'Secret'].includes(kind));
  const names = configuration.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  expect(new Set(references)).toEqual(new Set(names));
});

test.each(SERVICES)('the %s reads all variables it gets, and gets all it requires', (service) => {
  const known = variablesOf(PROGRAMS[service]);
  const environment = environmentOf(service);
  expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
  expect(() => readAll(PROGRAMS[service], environment)).not.toThrow();
});

test.each(ENGINES)('the %s has one role', (service) => {
  const role = { uploader: 'upload', transcoder: 'transcode' }[service];
  expect(readEngineConfig(environmentOf(service)).roles).toEqual([role]);
});

test.each(ENGINES)(
  'the %s gets neither the URL of the database nor the secret that encrypts content keys',
  (service) => {
    expect(environmentOf(service)).not.toHaveProperty('DATABASE_URL');
    expect(environmentOf(service)).not.toHaveProperty('CONTENT_KEY_SECRET');
  },
);

test.each(ENGINES)(
  'the %s does not use the users of the control plane for the queue and the storage',
  (engine) => {
    const secretsOf = (service) =>
      containerOf(service).envFrom.flatMap(({ secretRef }) => (secretRef ? [secretRef.name] : []));
    const shared = secretsOf(engine).filter((name) => secretsOf('control-plane').includes(name));
    const variables = shared.flatMap((name) => Object.keys(variablesIn(findNamed('Secret', name))));
    expect(variables).toEqual(['SERVICE_SECRET']);
  },
);

test.each(SERVICES)(
  'the %s has limits, and its probes of /readyz wait longer than the slowest readiness check',
  (service) => {
    const container = containerOf(service);
    expect(container.resources.limits).toMatchObject({ cpu: expect.any(String), memory: expect.any(String) });
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { httpGet, timeoutSeconds } = container[probe];
      if (httpGet.path === '/readyz') expect(1000 * timeoutSeconds).toBeGreaterThan(READINESS_TIMEOUT_MS);
    }
  },
);

test.each(SERVICES)('the image of the %s is that of docker-compose.yml', (service) => {
  const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });
  const image = compose.services[service].image.replace(/\$\{\w+:-([^}]*)\}/, '$1');
  expect(containerOf(service).image).toBe(image);
  expect(image).toMatch(/:\d+\.\d+\.\d+$/);
});

test.each(SERVICES)('the route, the service and the container of the %s use the same ports', (service) => {
  const container = containerOf(service);
  const [publicPort, internalPort] = imageOf(PROGRAMS[service]).ports;
  expect(container.ports.map(({ containerPort }) => containerPort)).toEqual(
    service === 'transcoder' ? [internalPort] : [publicPort, internalPort],
  );
  const named = new Map(container.ports.map(({ name, containerPort }) => [name, containerPort]));
  const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((probe) => container[probe].httpGet);
  for (const { port } of probes) expect(named.has(port)).toBe(true);
  const targets = objects.filter(
    ({ kind, spec }) => kind === 'Service' && spec.selector['app.kubernetes.io/component'] === service,
  );
  for (const { spec } of targets) {
    for (const { port, targetPort } of spec.ports) expect(named.get(targetPort)).toBe(port);
  }
  const ingress = find('NetworkPolicy', service).spec.ingress.flatMap(({ ports }) => ports);
  expect(ingress.map(({ port }) => port)).toEqual([...named.values()]);
  if (service === 'transcoder') {
    expect([targets, find('HTTPRoute', service)]).toEqual([[], undefined]);
    return;
  }
  const [backend] = find('HTTPRoute', service).spec.rules[0].backendRefs;
  expect(findNamed('Service', backend.name).spec.ports[0].port).toBe(backend.port);
});

test.each(ENGINES)('the URL of the control plane in the %s is that of its service', (service) => {
  const { hostname, port } = new URL(environmentOf(service).CONTROL_PLANE_INTERNAL_URL);
  expect(findNamed('Service', hostname).spec.ports[0].port).toBe(Number(port));
});

test.each(SERVICES)('the %s has the time it needs to stop, and no privilege', (service) => {
  const { spec } = find('Deployment', service).spec.template;
  const container = containerOf(service);
  const preStop = container.lifecycle?.preStop.sleep.seconds ?? 0;
  // A transcoder has no public listener, so it needs no delay before SIGTERM.
  expect(preStop).toBe(service === 'transcoder' ? 0 : 10);
  const needed = preStop + stopSeconds(PROGRAMS[service], environmentOf(service));
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(needed);
  expect(spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 10001 });
  expect(container.securityContext).toEqual({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  expect(find('PodDisruptionBudget', service).spec.selector.matchLabels).toEqual(labelsOf(service));
});

test('uploaders drain for an hour', () => {
  expect(readEngineConfig(environmentOf('uploader')).uploads.drainSeconds).toBe(3600);
});

test('only transcoders scale: with the lengths of the queues of commands and tasks', () => {
  const scaled = objects.filter(({ kind }) => /^(ScaledObject|HorizontalPodAutoscaler)$/.test(kind));
  expect(scaled).toHaveLength(1);
  const [{ spec }] = scaled;
  expect(spec.scaleTargetRef).toEqual({ name: 'framelane-transcoder' });
  expect(find('Deployment', 'transcoder').spec).not.toHaveProperty('replicas');
  expect(find('Deployment', 'uploader').spec.replicas).toBe(2);
  expect(spec.triggers.map(({ metadata }) => metadata.queueName)).toEqual([
    'engine.commands',
    'engine.tasks',
  ]);
  for (const { metadata, authenticationRef } of spec.triggers) {
    expect(Object.keys(QUEUES)).toContain(metadata.queueName);
    expect(metadata.excludeUnacknowledged).toBe('false');
    const [{ name, key }] = findNamed('TriggerAuthentication', authenticationRef.name).spec.secretTargetRef;
    expect(variablesIn(findNamed('Secret', name))[key]).toBe(FILLED_IN.host);
  }
  expect(spec.triggers[0].metadata.value).toBe(environmentOf('transcoder').ENGINE_SLOTS);
});

describe('the network policy of', () => {
  // With http, isAllowedAddress allows only the given ranges, so it tests containment.
  const within = (address, cidr) => isAllowedAddress(address, 'http:', readRanges(cidr));
  const matches = ({ ipBlock }, address) =>
    within(address, ipBlock.cidr) && !(ipBlock.except ?? []).some((cidr) => within(address, cidr));
  /** Whether the policy allows the service to connect to a port. Without an address: to any address. */
  const mayReach = (service, port, address, protocol = 'TCP') =>
    find('NetworkPolicy', service).spec.egress.some(({ ports, to }) => {
      const isPort =
        ports === undefined ||
        ports.some((each) => each.port === port && (each.protocol ?? 'TCP') === protocol);
      const isPeer =
        to === undefined ||
        (address !== undefined && to.some((peer) => peer.ipBlock && matches(peer, address)));
      return isPort && isPeer;
    });

  test.each(SERVICES)(
    'the %s allows DNS, AMQP with and without TLS, and S3 on port 9000 at any address, and S3 on port 443 on the internet',
    (service) => {
      const { podSelector, policyTypes } = find('NetworkPolicy', service).spec;
      expect(podSelector.matchLabels).toEqual(labelsOf(service));
      expect(policyTypes).toEqual(['Ingress', 'Egress']);
      const amqp = Number(new URL(environmentOf(service).AMQP_URL).port);
      for (const port of [53, amqp, 5671, 9000])
        expect([port, mayReach(service, port)]).toEqual([port, true]);
      expect(mayReach(service, 53, undefined, 'UDP')).toBe(true);
      expect(mayReach(service, 443, '52.216.0.1')).toBe(true);
    },
  );

  test('the control plane allows its database', () => {
    const { port } = new URL(environmentOf('control-plane').DATABASE_URL);
    expect(mayReach('control-plane', Number(port))).toBe(true);
  });

  test.each([
    ['control plane', 'webhook endpoints', 'control-plane', 443],
    ['uploader', 'imports over https', 'uploader', 443],
    ['uploader', 'imports over http', 'uploader', 80],
    // The API server of Kubernetes has port 443, too.
    ['transcoder', 'S3', 'transcoder', 443],
  ])('the %s allows %s on the internet only', (_, _what, service, port) => {
    const endpoints = ['93.184.216.34', '10.1.2.3', '172.20.0.1', '192.168.1.1', '100.100.0.1', '127.0.0.1'];
    endpoints.push('169.254.169.254', '168.63.129.16', '2606:4700::1', 'fd00::1', 'fe80::1', '::1');
    const policy = endpoints.filter((address) => mayReach(service, port, address));
    // 'https:' stands for "public address": imports allow http there as well.
    expect(policy).toEqual(endpoints.filter((address) => isAllowedAddress(address, 'https:', [])));
    expect(policy).toEqual(['93.184.216.34', '2606:4700::1']);
  });

  test.each(SERVICES)('the %s allows no connection to the API server at a private address', (service) => {
    for (const port of [443, 6443]) {
      for (const address of [undefined, '10.96.0.1', '172.20.0.1', '192.168.1.1', 'fd00::1']) {
        expect([port, address, mayReach(service, port, address)]).toEqual([port, address, false]);
      }
    }
  });

  test.each(ENGINES)('the %s allows the control plane, and no database', (service) => {
    const { port } = new URL(environmentOf(service).CONTROL_PLANE_INTERNAL_URL);
    const internal = find('NetworkPolicy', 'control-plane').spec.ingress[1];
    expect(internal.from).toContainEqual({ podSelector: { matchLabels: labelsOf(service) } });
    const [rule] = find('NetworkPolicy', service).spec.egress.filter(({ to }) => to !== undefined);
    expect(rule).toEqual({
      ports: [{ port: Number(port) }],
      to: [{ podSelector: { matchLabels: labelsOf('control-plane') } }],
    });
    for (const address of [undefined, '10.1.2.3', '93.184.216.34']) {
      expect(mayReach(service, 5432, address)).toBe(false);
    }
  });
});
