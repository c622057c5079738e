import { type Finding, failed, passed, warning } from './finding.ts';

/** The owner and the mode of a file. */
type Owned = { uid: number; mode: number };

/** What matters in DATA_DIR: itself, and the files with secrets that exist. */
export type DataDirFacts = {
  path: string;
  uid: number;
  root: Owned | undefined;
  /** Why the system refuses to create files in it, or to create it; undefined if it does not. */
  refusal: string | undefined;
  secrets: Record<string, Owned>;
};

/** Whether this user (`uid`) can use the data, and nobody else can read the secrets. */
export function dataDirFinding({ path, uid, root, refusal, secrets }: DataDirFacts): Finding {
  // Root can use the data of every user.
  if (root !== undefined && uid !== 0 && root.uid !== uid) {
    return failed(
      'Data',
      `${path} belongs to the user ${root.uid}, and this is the user ${uid}`,
      'Run Framelane as that user, or set DATA_DIR to a directory of this user.',
    );
  }
  if (refusal !== undefined) {
    const what = root === undefined ? 'cannot be created' : 'cannot be written';
    return failed(
      'Data',
      `${path} ${what} (${refusal})`,
      'Set DATA_DIR to a directory that this user can write.',
    );
  }
  if (root === undefined) return passed('Data', `${path} does not exist; the first start creates it`);
  const open = Object.keys(secrets).filter((name) => ((secrets[name]?.mode ?? 0) & 0o077) !== 0);
  if (open.length > 0) {
    return warning(
      'Data',
      `other users can read ${open.join(', ')}`,
      `Run: chmod 600 ${open.map((name) => `'${name}'`).join(' ')}`,
    );
  }
  return passed('Data', path);
}
