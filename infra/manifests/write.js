import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { chartFiles } from './chart-files.js';
import { obstacleToHelm, unpackHelm } from './helm-program.js';
import { BASE, CHART, kustomizeBase } from './kustomize-base.js';
import { withTable } from './values-table.js';

/**
 * `pnpm manifests` writes what follows from other files: the alerts and the dashboard in the chart, the table in its README, and the
 * manifests of Kustomize.
 */

const read = (name) => readFileSync(join(CHART, name), 'utf8');

function write(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

write(CHART, { ...chartFiles(), 'README.md': withTable(read('README.md'), read('values.yaml')) });

const obstacle = obstacleToHelm();
if (obstacle !== null) {
  console.error(`The manifests of Kustomize were not written: ${obstacle}.`);
  process.exitCode = 1;
} else {
  const folder = mkdtempSync(join(tmpdir(), 'framelane-helm-'));
  try {
    write(BASE, kustomizeBase(unpackHelm(folder)));
  } catch ({ message }) {
    console.error(message);
    process.exitCode = 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
