import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { runStep } from './run.js';
import { fail, report } from './terminal.js';

/** Programs that Framelane requires, with the Debian packages of each, separated by spaces. */
const NEEDED = { ffmpeg: 'ffmpeg', ffprobe: 'ffmpeg', setpriv: 'util-linux', prlimit: 'util-linux' };

/** The sandbox of ffmpeg, unless ENGINE_SANDBOX selects another one. */
const SANDBOX = { bwrap: 'bubblewrap' };

/** Optional: for the example that `npm start` prints. */
const OPTIONAL = { curl: 'curl' };

/** Also required by the tests. */
const FOR_TESTS = { curl: 'curl', 'rabbitmq-server': 'rabbitmq-server' };

/** Optional: without these programs, some tests are skipped. */
const OPTIONAL_FOR_TESTS = {
  chromium: 'chromium',
  haproxy: 'haproxy',
  nginx: 'nginx-light',
  mpv: 'mpv',
  cvlc: 'vlc-bin vlc-plugin-base',
  'espeak-ng': 'espeak-ng',
  pocketsphinx_continuous: 'pocketsphinx pocketsphinx-en-us',
};

/** The command that installs packages, by `ID` or `ID_LIKE` in /etc/os-release. */
const INSTALLERS = {
  debian: 'apt-get install -y',
  fedora: 'dnf install -y',
  rhel: 'dnf install -y',
  arch: 'pacman -S --needed',
  suse: 'zypper install -y',
};

/** Names of required packages that differ from those of Debian. */
const OTHER_NAMES = { arch: { 'rabbitmq-server': 'rabbitmq' } };

/** Repositories with an ffmpeg that has libx264, where the distribution itself has none. */
const FFMPEG_REPOSITORIES = { fedora: 'RPM Fusion', rhel: 'RPM Fusion', suse: 'Packman' };

/**
 * The packages to install, or undefined. Installation is possible on Debian and derivatives, as root. Elsewhere this function ends the
 * process if a required program is missing, and prints the command that installs it.
 */
export function systemPackagesToInstall({ forTests, firstTime }) {
  const usesBubblewrap = !['landlock', 'none'].includes(process.env.ENGINE_SANDBOX);
  const required = { ...NEEDED, ...(usesBubblewrap && SANDBOX), ...(forTests && FOR_TESTS) };
  const programs = Object.keys(required).filter((program) => !isInPath(program));
  const needed = packagesOf(programs, required);
  const others = forTests ? { ...OPTIONAL, ...OPTIONAL_FOR_TESTS } : OPTIONAL;
  const missingOthers = Object.keys(others).filter((program) => !isInPath(program));
  const optional = packagesOf(missingOthers, others).filter((name) => !needed.includes(name));
  const distribution = distributionOf();
  const mayInstall = distribution === 'debian' && process.getuid() === 0;
  if (programs.length > 0 && !mayInstall) {
    fail(messageForMissing({ programs, needed, optional, distribution }));
  }
  const wantsOptional = (firstTime || forTests) && optional.length > 0;
  return mayInstall && (needed.length > 0 || wantsOptional) ? { needed, optional } : undefined;
}

/** Installs packages with apt-get. Resolves with a message if a required one cannot be installed. */
export async function installSystemPackages({ needed, optional }) {
  report(`Installing ${[...needed, ...optional].join(', ')} with apt-get …`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (...args) =>
    runStep('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=300', '-o', 'Dpkg::Use-Pty=0', ...args], {
      env,
      stdout: process.stderr,
    });
  const install = (packages) => apt('install', '-y', '--no-install-recommends', ...packages);
  await apt('update');
  const everything = [...needed, ...optional].flatMap((names) => names.split(' '));
  if ((await install(everything)) === 0) return undefined;
  // Not every distribution has all of the optional packages.
  if (needed.length > 0 && (optional.length === 0 || (await install(needed)) !== 0)) {
    return `apt-get could not install ${needed.join(', ')}; see the messages above. Solve the problem, then start again.`;
  }
  for (const names of optional) {
    if ((await install(names.split(' '))) !== 0) report(`Continuing without ${names}, which is optional.`);
  }
  return undefined;
}

function packagesOf(programs, packages) {
  return [...new Set(programs.map((program) => packages[program]))];
}

/**
 * What is missing, and how to install it. A package manager installs nothing if it does not know one of the names, so optional
 * packages have a command of their own. Only their Debian names are known.
 */
export function messageForMissing({ programs, needed, optional, distribution }) {
  const missing = `These programs are missing: ${programs.join(', ')}.`;
  const installer = INSTALLERS[distribution];
  if (installer === undefined) return `${missing} Install them, then start again.`;
  const isDebian = distribution === 'debian';
  const update = isDebian ? 'sudo apt-get update && ' : '';
  const names = needed.map((name) => OTHER_NAMES[distribution]?.[name] ?? name);
  const repository = needed.includes('ffmpeg') && FFMPEG_REPOSITORIES[distribution];
  const before = repository ? `First add the repository ${repository}, which has ffmpeg with libx264. ` : '';
  const command = `${missing} ${before}Install them with this command, then start again:\n\n  ${update}sudo ${installer} ${names.join(' ')}`;
  return isDebian && optional.length > 0
    ? `${command}\n\nOptional:\n\n  sudo ${installer} ${optional.join(' ')}`
    : command;
}

/** Whether a program is in PATH. This runs before packages are installed, so it cannot use one. */
export function isInPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** The first known family of distributions in /etc/os-release. */
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
