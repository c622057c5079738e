import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { ROOT } from '../bootstrap/project.js';
import { imageOf } from '../testing/service-settings.js';

const read = (path) => readFileSync(join(import.meta.dirname, path), 'utf8');
const dashboard = JSON.parse(read('grafana/dashboards/framelane.json'));
const alerts = parse(read('alerts.yml')).groups.flatMap(({ rules }) => rules);
const prometheus = parse(read('prometheus.yml'));
const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true });

const queries = [
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...alerts.map(({ expr }) => expr),
];

test('the dashboard and alerts use metrics that the monitoring guide describes', () => {
  const described = readFileSync(join(ROOT, 'docs/monitoring.md'), 'utf8').match(/\bframelane_[a-z_]+/g);
  const used = queries.flatMap((query) => query.match(/\bframelane_[a-z_]+/g) ?? []);
  const families = new Set(used.map((name) => name.replace(/_(bucket|sum|count)$/, '')));
  expect(families.size).toBeGreaterThan(15);
  expect([...families].filter((name) => !described.includes(name))).toEqual([]);
});

test('the jobs in queries are those of prometheus.yml', () => {
  const jobs = prometheus.scrape_configs.map(({ job_name }) => job_name);
  const used = queries.flatMap((query) => [...query.matchAll(/job=~?"([^"]+)"/g)]);
  expect(used.flatMap(([, names]) => names.split('|')).filter((name) => !jobs.includes(name))).toEqual([]);
});

test('Prometheus scrapes all services under the names of compose, on their internal ports', () => {
  const byImage = (image) => ({ names: servicesOf(image), port: imageOf(image).ports[1] });
  for (const job of ['control-plane', 'engine']) {
    const [{ names, port }] = prometheus.scrape_configs.find(
      ({ job_name }) => job_name === job,
    ).dns_sd_configs;
    expect({ names, port }).toEqual(byImage(job));
  }
});

/** The services of compose that run an image. */
function servicesOf(image) {
  const entries = Object.entries(compose.services);
  return entries
    .filter(([, service]) => service.image.includes(`/framelane/${image}:`))
    .map(([name]) => name);
}

test('the configuration uses the paths where compose mounts the files', () => {
  const { datasources } = parse(read('grafana/provisioning/datasources/prometheus.yml'));
  for (const { datasource } of dashboard.panels) expect(datasource.uid).toBe(datasources[0].uid);
  const { providers } = parse(read('grafana/provisioning/dashboards/framelane.yml'));
  const mounts = compose.services.grafana.volumes.map((mount) => mount.split(':')[1]);
  expect(mounts).toContain(providers[0].options.path);
  const rules = compose.services.prometheus.volumes.map((mount) => mount.split(':')[1]);
  expect(rules).toEqual(expect.arrayContaining(prometheus.rule_files));
});
