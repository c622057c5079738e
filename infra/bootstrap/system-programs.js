import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runStep } from './run.js';
import { fail, say } from './terminal.js';

/** The programs Framelane runs, and the Debian package of each. */
const NEEDED = { ffmpeg: 'ffmpeg', ffprobe: 'ffmpeg', setpriv: 'util-linux', prlimit: 'util-linux' };

/** Confines ffmpeg, unless ENGINE_SANDBOX names another way. */
const SANDBOX = { bwrap: 'bubblewrap' };

/** Runs the example that a start prints. */
const WELCOME = { curl: 'curl' };

/** What the tests run besides. */
const FOR_TESTS = { curl: 'curl', 'rabbitmq-server': 'rabbitmq-server' };

/** What some tests are left out without. */
const WELCOME_FOR_TESTS = { chromium: 'chromium', haproxy: 'haproxy' };

/** How to install packages, by the distribution's `ID` or `ID_LIKE` in /etc/os-release. */
const INSTALLERS = {
  debian: 'apt-get install -y',
  fedora: 'dnf install -y',
  rhel: 'dnf install -y',
  arch: 'pacman -S --needed',
  suse: 'zypper install -y',
};

/**
 * Sees to it that the needed programs are there: on Debian and its relatives, as root, by installing them; elsewhere
 * by naming the one command to run.
 */
export async function ensureSystemPrograms({ forTests = false, firstTime = false } = {}) {
  const usesBubblewrap = !['landlock', 'none'].includes(process.env.ENGINE_SANDBOX);
  const needed = packagesOfMissing({
    ...NEEDED,
    ...(usesBubblewrap && SANDBOX),
    ...(forTests && FOR_TESTS),
  });
  const welcome = packagesOfMissing(forTests ? { ...WELCOME, ...WELCOME_FOR_TESTS } : WELCOME).filter(
    (name) => !needed.includes(name),
  );
  const distribution = distributionOf();
  const mayInstall = distribution === 'debian' && process.getuid() === 0;
  if (needed.length > 0 && !mayInstall) {
    const installer = INSTALLERS[distribution];
    const update = distribution === 'debian' ? 'sudo apt-get update && ' : '';
    const packages = [...needed, ...welcome].join(' ');
    fail(
      installer === undefined
        ? `These programs are missing: ${needed.join(', ')}. Install them and run this command again.`
        : `Some programs are missing. Run this, then start again:\n\n  ${update}sudo ${installer} ${packages}`,
    );
  }
  const isWelcomeNow = (firstTime || forTests) && welcome.length > 0;
  if (mayInstall && (needed.length > 0 || isWelcomeNow)) await aptInstall(needed, welcome);
}

async function aptInstall(needed, welcome) {
  say(`Installing ${[...needed, ...welcome].join(', ')} with apt-get …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) =>
    runStep('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0', ...args], env);
  const install = (packages) => apt('install', '-y', '--no-install-recommends', ...packages);
  await apt('update');
  if (needed.length > 0 && (await install(needed)) !== 0) {
    fail(
      `apt-get could not install ${needed.join(', ')}; the lines above say why. Solve that and start again.`,
    );
  }
  // One by one: not every distribution has all of them.
  for (const name of welcome) {
    if ((await install([name])) !== 0) say(`Going on without ${name}.`);
  }
}

/** The packages of those programs that are not on the PATH. */
function packagesOfMissing(programs) {
  const missing = Object.keys(programs).filter((program) => !isOnPath(program));
  return [...new Set(missing.map((program) => programs[program]))];
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The first family of distributions in /etc/os-release that we know. */
function distributionOf() {
  let release = '';
  try {
    release = readFileSync('/etc/os-release', 'utf8');
  } catch {
    return undefined;
  }
  const names = [...release.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap((match) =>
    match[1].split(' '),
  );
  return names.find((name) => name in INSTALLERS);
}
