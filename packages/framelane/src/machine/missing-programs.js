import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Finds the system programs that are missing. JavaScript, because it runs on any Node, before packages are installed. */

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
 * What is missing in PATH: `programs` and their packages `needed`, optional packages, and the family of the distribution. The sandbox of
 * ffmpeg is optional if ENGINE_SANDBOX selects another one.
 */
export function missingPrograms({ forTests }) {
  const usesBubblewrap = !['landlock', 'none'].includes(process.env.ENGINE_SANDBOX);
  const required = { ...NEEDED, ...(usesBubblewrap && SANDBOX), ...(forTests && FOR_TESTS) };
  const programs = Object.keys(required).filter((program) => !isInPath(program));
  const needed = packagesOf(programs, required);
  const others = forTests ? { ...OPTIONAL, ...OPTIONAL_FOR_TESTS } : OPTIONAL;
  const missingOthers = Object.keys(others).filter((program) => !isInPath(program));
  const optional = packagesOf(missingOthers, others).filter((name) => !needed.includes(name));
  return { programs, needed, optional, distribution: distributionOf() };
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
