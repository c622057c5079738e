import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { Installation } from '@framelane/single-node/installation';

/** The installed program. Its data is where the XDG Base Directory Specification puts it, so commands find it from every folder. */
export const INSTALLED: Installation = {
  start: 'framelane start',
  startWith: 'framelane start',
  admin: 'framelane admin',
  dataDir: join(dataHome(), 'framelane'),
};

/** The specification says to ignore a relative path. */
function dataHome(): string {
  const { XDG_DATA_HOME: set = '' } = process.env;
  return isAbsolute(set) ? set : join(homedir(), '.local/share');
}
