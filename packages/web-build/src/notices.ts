import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Texts for packages that lack them, also for code of others that they contain. The first line of each file names its packages. */
const KEPT_TEXTS = fileURLToPath(new URL('../../../infra/licences/texts', import.meta.url));

const LICENCE_FILE = /^(licen[cs]e|copying)/i;

/** The section of a README with the text of the MIT licence. A section that only names the licence is not a notice. */
const README_SECTION = /^#+ *licen[cs]e(?:(?!^#).)*permission is hereby granted(?:(?!^#).)*/ims;

/** The licence notice of the npm package in `folder`: its own, and the text in infra/licences/texts. Empty if both are missing. */
export function noticeOf(folder: string): string {
  return [ownNoticeOf(folder), keptText(packageName(folder))].filter(Boolean).join('\n\n');
}

/** The notice that a package contains: its licence files, else the section of its README. Empty or undefined without one. */
function ownNoticeOf(folder: string): string | undefined {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
  const textOf = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
  const licences = files.filter((name) => LICENCE_FILE.test(name)).map(textOf);
  const readmes = files.filter((name) => /^readme/i.test(name)).map(textOf);
  return licences.join('\n\n') || README_SECTION.exec(readmes.join('\n\n'))?.[0].trim();
}

function packageName(folder: string): string {
  const { name }: { name: string } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return name;
}

function keptText(name: string): string | undefined {
  for (const file of readdirSync(KEPT_TEXTS)) {
    const [packages = '', ...lines] = readFileSync(join(KEPT_TEXTS, file), 'utf8').split('\n');
    if (packages.replace('Packages: ', '').split(', ').includes(name)) return lines.join('\n').trim();
  }
  return undefined;
}
