import type { Installation } from './installation.ts';

/** The settings that the administration command must share with the node, if they are set. */
const SHARED = ['DATA_DIR', 'DATABASE_URL', 'PORT', 'PUBLIC_URL'] as const;
const PUBLIC: readonly string[] = ['PORT', 'PUBLIC_URL'];

/**
 * The shell command that starts the administration command with the settings of the node. The value of a setting that `shows` refuses is
 * left to the reader.
 */
function commandWith(
  { admin }: Pick<Installation, 'admin'>,
  env: NodeJS.ProcessEnv,
  shows: (name: string) => boolean,
): string {
  const settings = SHARED.flatMap((name) => {
    const value = env[name];
    return value ? [`${name}=${shows(name) ? quoted(value) : '…'} `] : [];
  });
  return `${settings.join('')}${admin}`;
}

/** For the terminal of the node. */
export function adminCommand(installation: Pick<Installation, 'admin'>, env: NodeJS.ProcessEnv): string {
  return commandWith(installation, env, (name) => name !== 'DATABASE_URL');
}

/** For pages that everybody can see: shows no path. */
export function publicAdminCommand(
  installation: Pick<Installation, 'admin'>,
  env: NodeJS.ProcessEnv,
): string {
  return commandWith(installation, env, (name) => PUBLIC.includes(name));
}

function quoted(value: string): string {
  return /^[\w./:-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
