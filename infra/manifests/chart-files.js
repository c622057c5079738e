import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/project.js';

/**
 * Files that Helm needs inside the folder of the chart, and what they are copies of. No symbolic links: Flux leaves these out of what it
 * deploys from Git, and Fleet refuses them.
 */
const SOURCES = {
  'files/alerts.yml': 'infra/observability/alerts.yml',
  'files/dashboard.json': 'infra/observability/grafana/dashboards/framelane.json',
};

/** The contents of these files by their paths in the chart. */
export function chartFiles() {
  return Object.fromEntries(
    Object.entries(SOURCES).map(([path, source]) => [path, readFileSync(join(ROOT, source), 'utf8')]),
  );
}
