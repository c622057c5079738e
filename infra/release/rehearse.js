import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { isInPath } from '../../packages/framelane/src/machine/missing-programs.js';
import { PROJECT_NODE, ROOT } from '../bootstrap/project.js';
import { obstacleToHelm, unpackHelm } from '../manifests/helm-program.js';
import { BASE_VALUES } from '../manifests/kustomize-base.js';
import { PROGRAM } from '../publish/program-manifests.js';
import { PUBLISHED } from '../publish/published-packages.js';
import { isPrerendered, writeNextSite } from './next-site.js';
import { startNpmRegistry } from './npm-registry.js';
import { startOciRegistry } from './oci-registry.js';

/**
 * `pnpm release:rehearse` publishes the npm packages, the chart and the images of the checkout to registries on this machine, and uses them from
 * there as a stranger does: in an empty folder, with an empty home directory. npm packages of others come from the registry that npm uses here.
 */

const IMAGES = ['control-plane', 'engine', 'gateway'];
const [container, ...containerArgs] = (process.env.CONTAINER_COMMAND ?? 'docker').split(' ');
/** Docker takes a registry of this machine without TLS, Podman has to be told. */
const insecure = container === 'docker' ? [] : ['--tls-verify=false'];
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const { catalog } = parse(readFileSync(join(ROOT, 'pnpm-workspace.yaml'), 'utf8'));

const folder = mkdtempSync(join(tmpdir(), 'framelane-rehearsal-'));
const stops = [];
try {
  await rehearsePackages();
  const registry = await ociRegistry();
  if (registry !== undefined) {
    rehearseChart(registry);
    rehearseImages(registry);
  }
} catch (error) {
  process.exitCode = 1;
  console.error(`✗ ${[error.message, error.stdout, error.stderr].filter(Boolean).join('\n').trim()}`);
} finally {
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true });
}

async function rehearsePackages() {
  // A package comes after those that it depends on.
  const folders = ['client', ...PUBLISHED.filter((name) => name !== 'client'), PROGRAM];
  const packages = folders.map((name) => join(ROOT, 'packages', name, 'dist'));
  for (const name of folders)
    run('npm', ['run', '--silent', 'build', '--prefix', join(ROOT, 'packages', name)]);
  const names = packages.map((path) => JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')).name);
  const upstream = run('npm', ['config', 'get', 'registry']).trim();
  const registry = await startNpmRegistry(folder, { version: catalog.verdaccio, upstream, names });
  stops.unshift(registry.stop);
  const stranger = newStranger(registry.url);
  for (const path of packages) {
    const { stderr } = stranger('npm', ['publish', '--loglevel=warn', path]);
    // npm publishes another package.json than the one of the checkout.
    if (stderr.includes('auto-corrected')) throw new Error(`npm has corrected ${path}:\n${stderr}`);
    done(`${path.slice(ROOT.length + 1)} is published`);
  }
  for (const name of ['framelane', '@framelane/cli']) {
    const { stdout } = stranger('npx', ['--yes', `${name}@${version}`, '--version']);
    if (stdout.trim() !== version) throw new Error(`npx ${name} printed ${stdout}`);
    done(`npx ${name} runs`);
  }
  const libraries = ['@framelane/client', '@framelane/elements', '@framelane/hls-conformance'];
  stranger('npm', ['install', '--no-audit', '--no-fund', ...libraries]);
  const program = libraries.map((name) => `await import('${name}');`).join('');
  stranger(PROJECT_NODE, ['--input-type=module', '--eval', program]);
  done('npm install: the libraries are imported');
  rehearseNextSite(stranger);
}

/** Builds the site of the guide to Next.js with the published packages. */
function rehearseNextSite(stranger) {
  const others = ['next', 'react', 'react-dom'].map((name) => `${name}@${catalog[name]}`);
  stranger('npm', ['install', '--no-audit', '--no-fund', ...others]);
  const site = join(folder, 'empty');
  writeNextSite(site);
  stranger('npx', ['next', 'build']);
  if (!isPrerendered(site)) throw new Error('Next.js has not rendered the uploader');
  done('the site of docs/nextjs.md is built');
}

/** Runs programs in an empty folder, with an empty home directory, and with npm at a registry. */
function newStranger(registry) {
  const home = join(folder, 'home');
  const cwd = join(folder, 'empty');
  mkdirSync(home);
  mkdirSync(cwd);
  // Verdaccio lets everybody publish, but npm does not without a token.
  const config = `registry=${registry}\n${registry.replace('http:', '')}:_authToken=none\nupdate-notifier=false\n`;
  writeFileSync(join(home, '.npmrc'), config);
  const PATH = `${join(PROJECT_NODE, '..')}:${process.env.PATH}`;
  const env = {
    PATH,
    HOME: home,
    NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS ?? '',
    NEXT_TELEMETRY_DISABLED: '1',
  };
  return (program, args) => {
    const stderr = join(folder, 'stderr');
    const shell = ['-c', 'exec "$@" 2>"$0"', stderr, program, ...args];
    try {
      const stdout = execFileSync('sh', shell, { cwd, env, encoding: 'utf8' });
      return { stdout, stderr: readFileSync(stderr, 'utf8') };
    } catch (error) {
      error.stderr = readFileSync(stderr, 'utf8');
      throw error;
    }
  };
}

async function ociRegistry() {
  if (!isInPath('docker-registry')) return left('chart and images', 'docker-registry is not installed');
  const registry = await startOciRegistry(folder);
  stops.unshift(registry.stop);
  return registry;
}

function rehearseChart({ host }) {
  const obstacle = obstacleToHelm();
  if (obstacle !== null) return left('chart', obstacle);
  const helm = unpackHelm(folder);
  helm('package', join(ROOT, 'infra/helm'), '--destination', folder);
  helm('push', join(folder, `framelane-${version}.tgz`), `oci://${host}/charts`, '--plain-http');
  const pulled = join(folder, 'pulled');
  mkdirSync(pulled);
  helm(
    'pull',
    `oci://${host}/charts/framelane`,
    '--version',
    version,
    '--plain-http',
    '--destination',
    pulled,
  );
  const values = ['--values', BASE_VALUES];
  const rendered = helm('template', 'framelane', join(pulled, `framelane-${version}.tgz`), ...values);
  if (!rendered.includes(`framelane/engine:${version}`))
    throw new Error('The chart does not name the images of its version');
  done('the chart is pulled and rendered');
}

function rehearseImages({ host }) {
  for (const image of IMAGES) {
    const built = `ghcr.io/framelane/${image}:${version}`;
    const pushed = `${host}/framelane/${image}:${version}`;
    if (!succeeds(['image', 'inspect', built])) {
      left(image, `there is no ${built} here; build it as docs/deployment.md says`);
      continue;
    }
    run(container, [...containerArgs, 'tag', built, pushed]);
    run(container, [...containerArgs, 'push', ...insecure, pushed]);
    run(container, [...containerArgs, 'rmi', pushed]);
    run(container, [...containerArgs, 'pull', ...insecure, pushed]);
    const labels = run(container, [
      ...containerArgs,
      'inspect',
      '--format',
      '{{json .Config.Labels}}',
      pushed,
    ]);
    const label = JSON.parse(labels)['org.opencontainers.image.version'];
    run(container, [...containerArgs, 'rmi', pushed]);
    if (label !== version) throw new Error(`${pushed} has the version ${label}`);
    done(`the image ${image} is pushed and pulled`);
  }
}

function succeeds(args) {
  try {
    run(container, [...containerArgs, ...args]);
    return true;
  } catch {
    return false;
  }
}

function run(program, args) {
  return execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function done(what) {
  console.log(`✓ ${what}`);
}

function left(what, why) {
  console.log(`– not tried: ${what}: ${why}`);
}
