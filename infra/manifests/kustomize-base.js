import { join } from 'node:path';
import { ROOT } from '../bootstrap/project.js';

/** The chart, and the folder of Kustomize with the values for its manifests. */
export const CHART = join(ROOT, 'infra/helm');
export const BASE = join(ROOT, 'infra/kubernetes');
export const BASE_VALUES = join(BASE, 'chart-values.yaml');

/** Lines that only Helm needs. */
const HELM_ONLY = /^ +(app\.kubernetes\.io\/(managed-by|version)|helm\.sh\/chart|checksum\/settings): .*\n/gm;

/** The tag of an image, which kustomization.yaml sets. */
const TAG = /(?<=^ +image: \S+):[^:/\n]*$/gm;

const HEADER =
  '# Written by `pnpm manifests` from the chart in infra/helm. Change that instead, or chart-values.yaml.\n';

/** The manifests of Kustomize by file name, as helm renders them. `helm` is a function of helm-program.js. */
export function kustomizeBase(helm) {
  const rendered = helm('template', 'framelane', CHART, '--values', BASE_VALUES, '--skip-tests');
  const [, ...documents] = rendered.split(/^---\n# Source: framelane\/templates\//m);
  const files = {};
  for (const document of documents) {
    const [, file, text] = /^(\S+)\n(.*)$/s.exec(document);
    // Kustomize generates the ConfigMaps from the .env files.
    if (file === 'settings.yaml') continue;
    const manifest = text.replace(HELM_ONLY, '').replace(TAG, '');
    files[file] = file in files ? `${files[file]}---\n${manifest}` : HEADER + manifest;
  }
  return files;
}
