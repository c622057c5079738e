import { messageForMissing, missingPrograms } from '../../packages/framelane/src/machine/missing-programs.js';
import { runStep } from './run.js';
import { fail, report } from './terminal.js';

/**
 * The packages to install, or undefined. Installation is possible on Debian and derivatives, as root. Elsewhere this function ends the
 * process if a required program is missing, and prints the command that installs it.
 */
export function systemPackagesToInstall({ forTests, firstTime }) {
  const missing = missingPrograms({ forTests });
  const { needed, optional } = missing;
  const mayInstall = missing.distribution === 'debian' && process.getuid() === 0;
  if (missing.programs.length > 0 && !mayInstall) fail(messageForMissing(missing));
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
