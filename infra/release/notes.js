import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/project.js';
import { sections } from './changelog.js';

/** `node infra/release/notes.js 0.2.0` prints the changes of a version. */

const [wanted] = process.argv.slice(2);
const section = sections(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')).find(
  ({ version }) => version === wanted,
);
if (section === undefined) {
  process.stderr.write(`CHANGELOG.md has no section of ${wanted}.\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${section.text}\n`);
}
