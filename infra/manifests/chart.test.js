import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse, parseAllDocuments } from 'yaml';
import { requires } from '../../packages/test-kit/src/requires.ts';
import { ROOT } from '../bootstrap/project.js';
import { renderKustomization } from '../testing/kustomize.js';
import { readAll, SECRETS, stopSeconds, variablesOf } from '../testing/service-settings.js';
import { chartFiles } from './chart-files.js';
import { obstacleToHelm, unpackHelm } from './helm-program.js';
import { validateObject } from './kubernetes-schemas.js';
import { BASE, BASE_VALUES, CHART, kustomizeBase } from './kustomize-base.js';

const PROGRAMS = { 'control-plane': 'control-plane', uploader: 'engine', transcoder: 'engine' };

/** Variables that an image or the chart sets, not its user. */
const FIXED =
  /^(BOOTSTRAP_|CONTROL_PLANE_INTERNAL_URL$|ENGINE_(INTERNAL_)?(HOST|PORT)$|ENGINE_ROLES$|ENGINE_WORK_DIR$|(INTERNAL_)?(HOST|PORT)$)/;
/** Settings that the chart sets for a program, not its user: engines get this one of the control planes. */
const SET_BY_CHART = { 'control-plane': [], engine: ['PUBLIC_URL'] };
/** The names of secrets. */
const SECRET = /_(URL|KEY|KEY_ID|SECRET|SECRET_PREVIOUS|HEADERS)$/;
/** Variables with such names that are no secrets. */
const NO_SECRET = ['CDN_BASE_URL', 'ENGINE_PUBLIC_URL', 'PUBLIC_URL', 'RECOGNIZER_URL'];

const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'));

test('the copies of alerts and dashboard in the chart are those that `pnpm manifests` writes', () => {
  for (const [path, text] of Object.entries(chartFiles()))
    expect([path, readFileSync(join(CHART, path), 'utf8')]).toEqual([path, text]);
});

test.each([
  ['control-plane', 'controlPlaneVariable'],
  ['engine', 'engineVariable'],
])('the schema knows all variables of the %s that are settings', (program, definition) => {
  const settings = [...variablesOf(program)].filter(
    (name) =>
      !FIXED.test(name) &&
      !SET_BY_CHART[program].includes(name) &&
      (NO_SECRET.includes(name) || !SECRET.test(name)),
  );
  expect(schema.definitions[definition].enum).toEqual(settings.sort());
});

requires('helm', obstacleToHelm()).describe('the chart', () => {
  let folder;
  let helm;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'framelane-chart-'));
    helm = unpackHelm(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  /** The least values with which the chart can be installed. */
  const LEAST = {
    controlPlane: {
      settings: { PUBLIC_URL: 'https://video.example.com', ENGINE_PUBLIC_URL: 'https://upload.example.com' },
    },
  };
  const EVERYTHING = {
    ...LEAST,
    transcoder: { autoscaling: { enabled: true }, settings: { ENGINE_SLOTS: 3 } },
    ingress: {
      enabled: true,
      className: 'nginx',
      tls: [{ secretName: 'tls', hosts: ['upload.example.com'] }],
    },
    httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
    podMonitor: { enabled: true, labels: { release: 'prometheus' } },
    prometheusRule: { enabled: true },
    grafanaDashboard: { enabled: true },
  };

  /** Values that all components have. */
  const OF_PODS = {
    extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/certificates/ca.pem' }],
    extraVolumes: [{ name: 'certificates', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'certificates', mountPath: '/certificates' }],
    podAnnotations: { a: 'b' },
    podLabels: { c: 'd' },
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'media', operator: 'Exists' }],
    affinity: { nodeAffinity: {} },
    priorityClassName: 'high',
    extraEgress: [{ ports: [{ port: 1234 }] }],
  };

  /** Arguments of helm that give these values. */
  const given = (values) => {
    const file = join(folder, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    return ['--values', file];
  };
  const parsed = (text) =>
    parseAllDocuments(text).flatMap((document) => {
      if (document.errors.length > 0) throw document.errors[0];
      return document.toJS() ?? [];
    });
  const render = (values, { release = 'framelane', chart = CHART } = {}) =>
    parsed(helm('template', release, chart, '--namespace', 'video', ...given(values)));
  const find = (objects, kind, name) =>
    objects.find((object) => object.kind === kind && object.metadata.name === `framelane-${name}`);

  test('the manifests of Kustomize are those that `pnpm manifests` writes', () => {
    const written = kustomizeBase(helm);
    const { resources } = parse(readFileSync(join(BASE, 'kustomization.yaml'), 'utf8'));
    expect(Object.keys(written).sort()).toEqual(resources.filter((name) => name !== 'namespace.yaml').sort());
    for (const [name, text] of Object.entries(written))
      expect([name, readFileSync(join(BASE, name), 'utf8')]).toEqual([name, text]);
  });

  test('Kustomize creates the same objects as the chart', () => {
    const base = join(folder, 'base');
    cpSync(BASE, base, { recursive: true });
    for (const name of readdirSync(base).filter((each) => each.endsWith('.example')))
      cpSync(join(base, name), join(base, name.replace('.example', '')));
    const ofKustomize = renderKustomization(base).filter(
      ({ kind }) => !['Namespace', 'Secret'].includes(kind),
    );
    const ofChart = parsed(helm('template', 'framelane', CHART, '--values', BASE_VALUES, '--skip-tests'));
    const byName = (objects) =>
      Object.fromEntries(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
    expect(byName(ofKustomize.map(comparable))).toEqual(byName(ofChart.map(comparable)));
  });

  test('with the least values it needs no other software in the cluster, and has no secret', () => {
    const kinds = render(LEAST).map(({ apiVersion, kind }) => `${apiVersion} ${kind}`);
    expect([...new Set(kinds)].sort()).toEqual([
      'apps/v1 Deployment',
      'networking.k8s.io/v1 NetworkPolicy',
      'policy/v1 PodDisruptionBudget',
      'v1 ConfigMap',
      'v1 Pod',
      'v1 Service',
      'v1 ServiceAccount',
    ]);
    expect(find(render(LEAST), 'Deployment', 'transcoder').spec.replicas).toBe(2);
  });

  test.each(Object.keys(PROGRAMS))(
    'the %s reads the settings, and has the time it needs to stop',
    (service) => {
      const objects = render({ ...LEAST, uploader: { settings: { UPLOAD_DRAIN_SECONDS: 7200 } } });
      const { spec } = find(objects, 'Deployment', service).spec.template;
      const maps = spec.containers[0].envFrom.flatMap(({ configMapRef }) => configMapRef ?? []);
      const settings = maps.map(
        ({ name }) => find(objects, 'ConfigMap', name.replace('framelane-', '')).data,
      );
      const environment = Object.assign({}, ...settings, SECRETS);
      expect(() => readAll(PROGRAMS[service], environment)).not.toThrow();
      expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds(PROGRAMS[service], environment));
    },
  );

  test.each([
    ['the least values', LEAST],
    ['all optional parts', EVERYTHING],
    [
      'values of the pods',
      { ...LEAST, controlPlane: { ...LEAST.controlPlane, ...OF_PODS }, transcoder: OF_PODS },
    ],
  ])(
    'with %s, all objects follow the schemas of Kubernetes and of the other software',
    async (_what, values) => {
      for (const object of render(values)) await validateObject(object);
    },
  );

  test('large numbers are written out', () => {
    const { data } = find(
      render({
        ...LEAST,
        controlPlane: { settings: { ...LEAST.controlPlane.settings, MAX_UPLOAD_BYTES: 10_737_418_240 } },
      }),
      'ConfigMap',
      'control-plane',
    );
    expect(data.MAX_UPLOAD_BYTES).toBe('10737418240');
  });

  test('a change of a setting changes the pods', () => {
    const checksum = (values) =>
      find(render(values), 'Deployment', 'uploader').spec.template.metadata.annotations['checksum/settings'];
    const other = { ...LEAST, settings: { S3_BUCKET: 'other' } };
    expect(checksum(LEAST)).not.toBe(checksum(other));
    expect(checksum(LEAST)).toBe(checksum({ ...LEAST, uploader: { replicas: 7 } }));
  });

  test('two releases in a namespace share no object and select no pods of each other', () => {
    const [one, two] = ['framelane', 'second'].map((release) => render(LEAST, { release }));
    const names = (objects) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(names(one).filter((name) => names(two).includes(name))).toEqual([]);
    expect(names(two)).toContain('Deployment second-framelane-control-plane');
    const labels = two
      .filter(({ kind }) => kind === 'Deployment')
      .map(({ spec }) => spec.template.metadata.labels);
    for (const label of labels) expect(label['app.kubernetes.io/instance']).toBe('second');
    for (const { spec } of one.filter(({ kind }) => kind === 'Service'))
      expect(spec.selector['app.kubernetes.io/instance']).toBe('framelane');
  });

  test('names have at most 63 characters, whatever the name of the release', () => {
    const release = `a${'b'.repeat(52)}`;
    for (const { metadata } of render(EVERYTHING, { release }))
      expect(metadata.name).toMatch(/^[-a-z0-9]{1,63}$/);
  });

  test('the optional parts: monitoring, autoscaling and routes', () => {
    const objects = render(EVERYTHING);
    const alerts = parse(readFileSync(join(ROOT, 'infra/observability/alerts.yml'), 'utf8'));
    expect(find(objects, 'PrometheusRule', 'alerts').spec).toEqual(alerts);
    const dashboard = readFileSync(
      join(ROOT, 'infra/observability/grafana/dashboards/framelane.json'),
      'utf8',
    );
    expect(find(objects, 'ConfigMap', 'dashboard').data).toEqual({ 'framelane.json': dashboard });
    const monitor = find(objects, 'PodMonitor', 'pods');
    expect(monitor.metadata.labels.release).toBe('prometheus');
    const [{ port, relabelings }] = monitor.spec.podMetricsEndpoints;
    const jobs = parse(readFileSync(join(ROOT, 'infra/observability/prometheus.yml'), 'utf8')).scrape_configs;
    for (const [service, program] of Object.entries(PROGRAMS)) {
      const { metadata, spec } = find(objects, 'Deployment', service).spec.template;
      expect(metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
      expect(spec.containers[0].ports.map(({ name }) => name)).toContain(port);
      expect(jobOf(metadata.labels, relabelings)).toBe(program);
      expect(jobs.map(({ job_name }) => job_name)).toContain(program);
      // Otherwise a Prometheus that also reads annotations would count everything twice.
      expect(metadata.annotations).not.toHaveProperty('prometheus.io/scrape');
    }
    const { triggers } = find(objects, 'ScaledObject', 'transcoder').spec;
    expect(triggers.map(({ metadata }) => metadata.value)).toEqual(['3', '1']);
    expect(find(objects, 'Deployment', 'transcoder').spec).not.toHaveProperty('replicas');
    const hosts = { 'control-plane': 'video.example.com', uploader: 'upload.example.com' };
    for (const [service, host] of Object.entries(hosts)) {
      expect(find(objects, 'HTTPRoute', service).spec.hostnames).toEqual([host]);
      const { rules, ingressClassName } = find(objects, 'Ingress', service).spec;
      expect([ingressClassName, rules[0].host]).toEqual(['nginx', host]);
    }
    expect(find(objects, 'Ingress', 'control-plane').spec).not.toHaveProperty('tls');
    expect(find(objects, 'Ingress', 'uploader').spec.tls).toEqual([
      { hosts: ['upload.example.com'], secretName: 'tls' },
    ]);
  });

  test('the values of a component are those of its pods', () => {
    const objects = render({
      image: {
        registry: 'registry.example.com',
        tag: '1.2.3',
        engine: { digest: `sha256:${'0'.repeat(64)}` },
      },
      controlPlane: { ...LEAST.controlPlane, ...OF_PODS },
      uploader: OF_PODS,
      transcoder: { ...OF_PODS, runtimeClassName: 'gvisor', workSize: '80Gi' },
      networkPolicy: { monitoringNamespace: 'metrics' },
    });
    for (const service of Object.keys(PROGRAMS)) {
      const { metadata, spec } = find(objects, 'Deployment', service).spec.template;
      const [container] = spec.containers;
      expect(container.env).toEqual(OF_PODS.extraEnv);
      expect(container.volumeMounts).toContainEqual(OF_PODS.extraVolumeMounts[0]);
      expect(spec.volumes).toContainEqual(OF_PODS.extraVolumes[0]);
      expect(spec).toMatchObject({
        nodeSelector: { disk: 'fast' },
        tolerations: OF_PODS.tolerations,
        affinity: OF_PODS.affinity,
        priorityClassName: 'high',
        serviceAccountName: 'framelane',
      });
      expect([metadata.annotations.a, metadata.labels.c]).toEqual(['b', 'd']);
      const policy = find(objects, 'NetworkPolicy', service).spec;
      expect(policy.egress.at(-1)).toEqual(OF_PODS.extraEgress[0]);
      expect(JSON.stringify(policy.ingress)).toContain('"kubernetes.io/metadata.name":"metrics"');
      expect(container.image).toBe(
        service === 'control-plane'
          ? 'registry.example.com/framelane/control-plane:1.2.3'
          : `registry.example.com/framelane/engine@sha256:${'0'.repeat(64)}`,
      );
    }
    const { spec } = find(objects, 'Deployment', 'transcoder').spec.template;
    expect([spec.runtimeClassName, spec.volumes[0].emptyDir.sizeLimit]).toEqual(['gvisor', '80Gi']);
  });

  test('a certificate can be for all names below a domain; the first one that fits is used', () => {
    const tls = [
      { secretName: 'wildcard', hosts: ['*.example.com'] },
      { secretName: 'video', hosts: ['video.example.com'] },
    ];
    const objects = render({ ...LEAST, ingress: { enabled: true, tls } });
    for (const [service, host] of [
      ['control-plane', 'video.example.com'],
      ['uploader', 'upload.example.com'],
    ])
      expect(find(objects, 'Ingress', service).spec.tls).toEqual([{ hosts: [host], secretName: 'wildcard' }]);
  });

  test('the addresses that the network policies except are those of a value', async () => {
    const blocksWith = async (exceptCidrs) => {
      const objects = render({ ...LEAST, networkPolicy: { exceptCidrs } });
      for (const object of objects) await validateObject(object);
      return Object.keys(PROGRAMS).map((service) => {
        const rules = find(objects, 'NetworkPolicy', service).spec.egress.flatMap(({ to = [] }) => to);
        return rules.flatMap(({ ipBlock }) => ipBlock ?? []);
      });
    };
    const [all, global] = [{ cidr: '0.0.0.0/0' }, { cidr: '2000::/3' }];
    const own = ['203.0.113.7/32', '2001:db8::/32', '10.0.0.0/8'];
    const excepted = [
      { ...all, except: ['203.0.113.7/32', '10.0.0.0/8'] },
      { ...global, except: ['2001:db8::/32'] },
    ];
    expect(await blocksWith(own)).toEqual([excepted, excepted, excepted]);
    expect(await blocksWith([])).toEqual(Array(3).fill([all, global]));
  });

  test('the parts that are on by default can be switched off', () => {
    const off = { enabled: false };
    const objects = render({
      ...LEAST,
      networkPolicy: off,
      podDisruptionBudget: off,
      serviceAccount: { create: false },
    });
    const kinds = objects.map(({ kind }) => kind);
    for (const kind of ['NetworkPolicy', 'PodDisruptionBudget', 'ServiceAccount'])
      expect(kinds).not.toContain(kind);
    expect(find(objects, 'Deployment', 'uploader').spec.template.spec).not.toHaveProperty(
      'serviceAccountName',
    );
  });

  test.each([
    ['no values', {}, ["'/controlPlane/settings': missing properties 'PUBLIC_URL', 'ENGINE_PUBLIC_URL'"]],
    ['an unknown value', { ...LEAST, replicas: 3 }, ["additional properties 'replicas' not allowed"]],
    [
      'an unknown value of a component',
      { ...LEAST, uploader: { replica: 3 } },
      ["at '/uploader'", "'replica'"],
    ],
    ['an unknown setting', { ...LEAST, uploader: { settings: { S3_BUCKT: 'a' } } }, ["'S3_BUCKT'"]],
    ['a setting in the wrong place', { ...LEAST, uploader: { settings: { CODECS: 'hevc' } } }, ["'CODECS'"]],
    ['a secret', { ...LEAST, transcoder: { settings: { AMQP_URL: 'a' } } }, ["'AMQP_URL'"]],
    ['a tag that YAML reads as a number', { ...LEAST, image: { tag: 20261129 } }, ["at '/image/tag'"]],
    ['no URL', { ...LEAST, settings: { S3_ENDPOINT: 's3' } }, ["at '/settings/S3_ENDPOINT'"]],
    ['no number', { ...LEAST, uploader: { replicas: 'two' } }, ["at '/uploader/replicas'", 'want integer']],
    ['a tag as digest', { ...LEAST, image: { engine: { digest: '1.2' } } }, ["at '/image/engine/digest'"]],
    ['routes without a Gateway', { ...LEAST, httpRoute: { enabled: true } }, ["at '/httpRoute/parentRefs'"]],
    [
      'one host for both services',
      {
        controlPlane: {
          settings: { PUBLIC_URL: 'https://a.example.com', ENGINE_PUBLIC_URL: 'https://a.example.com:8443' },
        },
        ingress: { enabled: true },
      },
      ['PUBLIC_URL and ENGINE_PUBLIC_URL have the same host a.example.com.'],
    ],
    [
      'a certificate of other hosts',
      {
        ...LEAST,
        ingress: {
          enabled: true,
          tls: [{ secretName: 'tls', hosts: ['*.video.example.com', 'example.com'] }],
        },
      },
      [
        'the secret tls for *.video.example.com, example.com, but the hosts are video.example.com and upload.example.com.',
      ],
    ],
    [
      'fewer transcoders at most than at least',
      { ...LEAST, transcoder: { autoscaling: { enabled: true, minReplicas: 11 } } },
      ['minReplicas is 11, more than maxReplicas, 10.'],
    ],
    ...['10.0.0.0', '0.0.0.0/0', 'fd00::/8', '2000::/3', 'internet'].map((cidr) => [
      `the addresses ${cidr}`,
      { ...LEAST, networkPolicy: { exceptCidrs: [cidr] } },
      ["at '/networkPolicy/exceptCidrs/0'"],
    ]),
  ])('%s: a clear error', (_what, values, messages) => {
    const run = () => helm('template', 'framelane', CHART, ...given(values));
    for (const message of messages) expect(run).toThrow(message);
  });

  test('the packed chart contains alerts and dashboard, and helm finds nothing to correct', () => {
    helm('package', CHART, '--destination', folder);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    const chart = join(folder, `framelane-${version}.tgz`);
    expect(render(EVERYTHING, { chart })).toEqual(render(EVERYTHING));
    expect(helm('lint', chart, '--strict', ...given(EVERYTHING))).toContain('0 chart(s) failed');
  });

  test('it can be a dependency of another chart', () => {
    const parent = join(folder, 'parent');
    cpSync(CHART, join(parent, 'charts/framelane'), { recursive: true });
    const dependencies = [{ name: 'framelane', version: '*', condition: 'framelane.enabled' }];
    const chart = { apiVersion: 'v2', name: 'parent', version: '1.0.0', dependencies };
    writeFileSync(join(parent, 'Chart.yaml'), JSON.stringify(chart));
    const values = (enabled) => ({ global: { region: 'eu' }, framelane: { ...LEAST, enabled } });
    expect(render(values(true), { chart: parent })).toEqual(render(LEAST));
    expect(render(values(false), { chart: parent })).toEqual([]);
  });

  test('the notes name the commands and what is missing', () => {
    const install = ['install', 'second', CHART, '--namespace', 'video', '--dry-run=client'];
    const notes = helm(...install, ...given(LEAST)).split('NOTES:\n')[1];
    expect(notes).toContain(
      'kubectl -n video exec deploy/second-framelane-control-plane -- admin workspace create --name Studio',
    );
    expect(notes).toContain('Neither ingress.enabled nor httpRoute.enabled is set');
    expect(notes).not.toContain('TRUST_PROXY');
    const exposed = helm(...install, ...given(EVERYTHING)).split('NOTES:\n')[1];
    expect(exposed).not.toContain('Neither');
    for (const component of ['controlPlane', 'uploader'])
      expect(exposed).toContain(`${component}.settings.TRUST_PROXY is not set`);
    const behind = { ...EVERYTHING, settings: { S3_BUCKET: 'videos', TRUST_PROXY: '10.0.0.0/8' } };
    expect(helm(...install, ...given(behind)).split('NOTES:\n')[1]).not.toContain('TRUST_PROXY');
  });
});

/** An object without what only Helm or only Kustomize sets: namespaces, suffixes of names, and some labels and annotations. */
function comparable(object) {
  const { metadata, ...rest } = JSON.parse(
    // The letters of Kustomize's hashes.
    JSON.stringify(object).replace(/-[2456789bcdfghkmt]{10}"/g, '"'),
  );
  delete rest.spec?.template?.metadata.annotations['checksum/settings'];
  const { name, labels = {} } = metadata;
  // Kustomize's ConfigMaps have no labels.
  const component = object.kind === 'ConfigMap' ? undefined : labels['app.kubernetes.io/component'];
  return { ...rest, metadata: { name, component } };
}

/** The job that Prometheus gives to the metrics of a pod. */
function jobOf(labels, relabelings) {
  const found = {};
  for (const [name, value] of Object.entries(labels))
    found[`__meta_kubernetes_pod_label_${name.replace(/\W/g, '_')}`] = value;
  for (const {
    sourceLabels: [source],
    regex = '.*',
    targetLabel,
    replacement,
  } of relabelings)
    if (new RegExp(`^(${regex})$`).test(found[source])) found[targetLabel] = replacement ?? found[source];
  return found.job;
}
