import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Installation } from '@framelane/single-node/installation';

/** The installed program. Its data is where the XDG Base Directory Specification puts it, so commands find it from every folder. */
export const INSTALLED: Installation = {
  start: 'framelane start',
  startWith: 'framelane start',
  admin: 'framelane admin',
  dataDir: join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'framelane'),
};
