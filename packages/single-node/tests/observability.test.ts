import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '@framelane/test-kit/free-ports';
import { PrometheusText } from '@framelane/test-kit/prometheus-text';
import { SingleNodeProcess } from '@framelane/test-kit/single-node-process';
import { until } from '@framelane/test-kit/until';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const OBSERVABILITY = join(import.meta.dirname, '../../../infra/observability');
const ADMIN = join(import.meta.dirname, '../src/cli/admin.ts');

/** Metrics of Prometheus itself and of RabbitMQ. */
const FOREIGN = /^(up$|rabbitmq_)/;

/** Words of PromQL that stand where a metric could. */
const WORDS = ['or', 'and', 'unless', 'bool'];

/** Labels that Prometheus adds when it scrapes. */
const ADDED_LABELS = ['job', 'instance'];

/** Label values that occur only after a failure. */
const LATE_VALUES = ['5..', '500|502|503|504'];

type Series = { name: string; labels: Record<string, string> };

let dataDir: string;
let backupDir: string;
let node: SingleNodeProcess;
/** The series of each job of prometheus.yml. */
const exposed: Record<string, Series[]> = {};
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'framelane-observability-'));
  backupDir = await mkdtemp(join(tmpdir(), 'framelane-backup-'));
  const [port = 0, enginePort = 0] = await freePorts(2);
  node = await SingleNodeProcess.start(dataDir, {
    INTERNAL_PORT: String(port),
    ENGINE_INTERNAL_PORT: String(enginePort),
    ENGINE_ROLES: 'upload',
  });
  // Backups, requests and their problems have series from the first one on.
  await promisify(execFile)(process.execPath, [ADMIN, 'backup', backupDir], {
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, BACKUP_PASSPHRASE: 'only for this test' },
  });
  await fetch(`${node.baseUrl}/videos`);
  await fetch(`${node.engineUrl}/upload`, { method: 'POST' });
  for (const [job, at] of [
    ['control-plane', port],
    ['engine', enginePort],
  ] as const) {
    exposed[job] = await until(async () => {
      const series = await scrape(at);
      return series.some(({ name }) => name === 'framelane_http_problems_total') && series;
    });
  }
});
afterAll(async () => {
  await node?.stop();
  await rm(dataDir, { recursive: true });
  await rm(backupDir, { recursive: true });
});

test('a single node has both roles, whatever ENGINE_ROLES says', () => {
  const roles = exposed.engine?.filter(({ name }) => name === 'framelane_engine_roles');
  expect(roles?.map(({ labels }) => labels.role)).toEqual(['upload', 'transcode']);
});

async function scrape(port: number): Promise<Series[]> {
  const { series } = await PrometheusText.scrape(`http://127.0.0.1:${port}/metrics`);
  return [...series.keys()].map((key) => {
    const [name = '', labels = ''] = key.split('{');
    return { name, labels: Object.fromEntries(matchers(labels).map(({ label, value }) => [label, value])) };
  });
}

/** The labels of a series or a selector, with their values. */
function matchers(text: string): { label: string; value: string }[] {
  const found = text.matchAll(/(\w+)(?:=|=~|!=|!~)"([^"]*)"/g);
  return [...found].map(([, label = '', value = '']) => ({ label, value }));
}

/** The queries of the dashboard and the alerts. */
async function queries(): Promise<string[]> {
  const dashboard = await readFile(join(OBSERVABILITY, 'grafana/dashboards/framelane.json'), 'utf8');
  const alerts = await readFile(join(OBSERVABILITY, 'alerts.yml'), 'utf8');
  const { panels } = JSON.parse(dashboard) as { panels: { targets: { expr: string }[] }[] };
  return [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...[...alerts.matchAll(/^ *expr: (.+)$/gm)].map(([, expr = '']) => expr),
  ];
}

/** The metrics of a query, each with the text of its selector. */
function selectors(query: string): { name: string; selector: string }[] {
  const withoutGroups = query.replace(/\bby \([^)]*\)|\[[^\]]*\]/g, ' ');
  const found = withoutGroups.matchAll(/(?<![\w.])([a-z_:][\w:]*)(?![\w:]|\s*\()(\{[^}]*\})?/gi);
  return [...found]
    .map(([, name = '', selector = '']) => ({ name, selector }))
    .filter(({ name }) => !WORDS.includes(name) && !FOREIGN.test(name));
}

/** The parts of a query that no series matches. */
function missing(query: string): string[] {
  const grouped = [...query.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels = '']) => labels.split(/, */));
  return selectors(query).flatMap(({ name, selector }) => {
    const wanted = matchers(selector);
    const jobs = new RegExp(`^(${wanted.find(({ label }) => label === 'job')?.value ?? '.*'})$`);
    const series = Object.entries(exposed)
      .filter(([job]) => jobs.test(job))
      .flatMap(([, ofJob]) => ofJob.filter((each) => each.name === name));
    if (series.length === 0) return [name];
    const isExposed = (label: string, value: RegExp) =>
      ADDED_LABELS.includes(label) ||
      series.some(({ labels }) => label in labels && value.test(labels[label] ?? ''));
    const values = wanted.flatMap(({ label, value }) =>
      (LATE_VALUES.includes(value) ? ['.*'] : value.split('|')).map((one) => [label, one] as const),
    );
    return [...values, ...grouped.map((label) => [label, '.*'] as const)]
      .filter(([label, value]) => !isExposed(label, new RegExp(`^(${value})$`)))
      .map(([label, value]) => `${name}{${label}="${value}"}`);
  });
}

test('the dashboard and the alerts ask for series and labels that the running services expose', async () => {
  const all = await queries();
  expect(all.length).toBeGreaterThan(40);
  expect(all.filter((query) => selectors(query).length === 0)).toEqual([
    'sum(up{job="control-plane"})',
    'sum(rabbitmq_detailed_queue_messages{queue="engine.commands"})',
    'up{job=~"control-plane|engine"} == 0',
  ]);
  expect(all.flatMap(missing)).toEqual([]);
});
