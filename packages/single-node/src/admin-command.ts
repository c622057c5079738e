/** The settings that the administration command must share with the node, if they are set. */
const SHARED = ['DATA_DIR', 'DATABASE_URL', 'PORT', 'PUBLIC_URL'] as const;
const PUBLIC: readonly string[] = ['PORT', 'PUBLIC_URL'];

/**
 * The shell command that starts the administration command with the settings of the node. The value of a setting that `shows` refuses is
 * left to the reader.
 */
function commandWith(env: NodeJS.ProcessEnv, shows: (name: string) => boolean): string {
  const settings = SHARED.flatMap((name) => {
    const value = env[name];
    return value ? [`${name}=${shows(name) ? quoted(value) : '…'} `] : [];
  });
  return `${settings.join('')}npm run admin --`;
}

/** For the terminal of the node. */
export function adminCommand(env: NodeJS.ProcessEnv): string {
  return commandWith(env, (name) => name !== 'DATABASE_URL');
}

/** For pages that everybody can see: shows no path. */
export function publicAdminCommand(env: NodeJS.ProcessEnv): string {
  return commandWith(env, (name) => PUBLIC.includes(name));
}

function quoted(value: string): string {
  return /^[\w./:-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
