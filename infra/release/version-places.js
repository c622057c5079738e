import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of the project that are npm packages. */
const WORKSPACES = ['packages', 'services'];

/** Where the version of Framelane is written besides the package.json files. A pattern has the version as its group `version`. */
const PLACES = {
  'openapi/openapi.yaml': /^ {2}version: (?<version>\S+)$/gm,
  'openapi/internal.yaml': /^ {2}version: (?<version>\S+)$/gm,
  'docker-compose.yml': /FRAMELANE_TAG:-(?<version>[^}]*)\}/g,
  'infra/compose/build.yml': /FRAMELANE_TAG:-(?<version>[^}]*)\}/g,
  '.env.example': /^#FRAMELANE_TAG=(?<version>\S+)$/gm,
  'infra/docker/Dockerfile': /org\.opencontainers\.image\.version="(?<version>[^"]*)"/g,
  'infra/helm/Chart.yaml': /^(?:version|appVersion): "?(?<version>[^"\n]*)"?$/gm,
  'infra/kubernetes/kustomization.yaml': /newTag: "(?<version>[^"]*)"/g,
  'docs/backup.md': /^ +image: ghcr\.io\/framelane\/control-plane:(?<version>\S+)$/gm,
  'docs/deployment.md': /^FROM ghcr\.io\/framelane\/engine:(?<version>\S+)$/gm,
};

const OF_PACKAGE = /^ {2}"version": "(?<version>[^"]*)"/gm;

/** Each file below `root` with the version of Framelane, and the pattern that finds it there. */
export function versionPlaces(root) {
  const folders = WORKSPACES.flatMap((group) =>
    readdirSync(join(root, group)).map((name) => `${group}/${name}`),
  );
  const manifests = ['.', 'openapi', ...folders]
    .map((folder) => join(folder, 'package.json'))
    .filter((path) => existsSync(join(root, path)));
  return [...manifests.map((path) => ({ path, pattern: OF_PACKAGE })), ...ofOtherFiles()];
}

function ofOtherFiles() {
  return Object.entries(PLACES).map(([path, pattern]) => ({ path, pattern }));
}

/** The versions that a text has at the places of a pattern. */
export function versionsIn(text, pattern) {
  return [...text.matchAll(pattern)].map(({ groups }) => groups.version);
}

/** The text with another version at the places of a pattern. */
export function withVersion(text, pattern, version) {
  return text.replace(pattern, (match, found) => match.replace(found, () => version));
}

/** The version of Framelane: that of the package.json in `root`. */
export function currentVersion(root) {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}
