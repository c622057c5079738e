import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/project.js';
import { released } from './changelog.js';
import { versionPlaces, withVersion } from './version-places.js';

/** Writes a version wherever the version of Framelane is written below `root`, and into CHANGELOG.md with a date (ISO 8601). */
export function setVersion(root, version, date) {
  if (!/^(0|[1-9]\d*)(\.(0|[1-9]\d*)){2}$/.test(version))
    throw new Error('The version must be three numbers, such as 0.2.0.');
  const edit = (path, change) => {
    const file = join(root, path);
    return { file, text: change(readFileSync(file, 'utf8')) };
  };
  // All errors are found before the first file is written. A run that failed to write a file can be repeated.
  const edits = [
    ...versionPlaces(root).map(({ path, pattern }) =>
      edit(path, (text) => withVersion(text, pattern, version)),
    ),
    edit('CHANGELOG.md', (text) => released(text, version, date)),
  ];
  for (const { file, text } of edits) writeFileSync(file, text);
}

/** `pnpm release:version 0.2.0` also writes the version into the generated descriptions of the API. */
if (import.meta.main) {
  try {
    const [version = ''] = process.argv.slice(2);
    setVersion(ROOT, version, new Date().toISOString().slice(0, 10));
    execFileSync('npm', ['run', '--silent', 'generate', '--prefix', 'openapi'], {
      cwd: ROOT,
      stdio: 'inherit',
    });
    console.log(`Review the changes, commit them and tag the commit as v${version}. See docs/releasing.md.`);
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
