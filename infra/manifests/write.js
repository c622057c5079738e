import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { obstacleToHelm, unpackHelm } from './helm-program.js';
import { BASE, CHART, kustomizeBase } from './kustomize-base.js';
import { withTable } from './values-table.js';

/** `pnpm manifests` writes what follows from the chart: the manifests of Kustomize and the table in the README of the chart. */

const readme = join(CHART, 'README.md');
writeFileSync(
  readme,
  withTable(readFileSync(readme, 'utf8'), readFileSync(join(CHART, 'values.yaml'), 'utf8')),
);

const obstacle = obstacleToHelm();
if (obstacle !== null) throw new Error(`The manifests of Kustomize cannot be written: ${obstacle}.`);
const folder = mkdtempSync(join(tmpdir(), 'framelane-helm-'));
try {
  for (const [name, text] of Object.entries(kustomizeBase(unpackHelm(folder))))
    writeFileSync(join(BASE, name), text);
} finally {
  rmSync(folder, { recursive: true });
}
