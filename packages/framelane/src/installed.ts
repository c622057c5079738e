import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Installation } from '@framelane/single-node/installation';

/** The installed program. Its data is where the XDG Base Directory Specification puts it, so commands find it from every folder. */
export const INSTALLED: Installation = {
  start: 'framelane start',
  startWith: 'framelane start',
  admin: 'framelane admin',
  dataDir: dataDirOf(process.env, homedir),
};

/** The default of DATA_DIR. The specification says to ignore a relative path. `home` finds the home of the user; it may throw. */
export function dataDirOf({ XDG_DATA_HOME: set = '' }: NodeJS.ProcessEnv, home: () => string): string {
  return join(isAbsolute(set) ? set : join(orRoot(home), '.local/share'), 'framelane');
}

/** A user without a home, such as one that only has a number, gets `/`, as in containers. This user must set DATA_DIR. */
function orRoot(home: () => string): string {
  try {
    const path = home();
    return isAbsolute(path) ? path : '/';
  } catch {
    return '/';
  }
}
