import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Plugin } from 'vite';
import { noticeOf } from './notices.ts';

/** The text of Apache-2.0, to which the notices of some packages only refer. */
const LICENCE = new URL('../../../LICENSE', import.meta.url);

/**
 * A Vite plugin that writes the licences of a page into a file: that of Framelane, and those of the packages bundled into the page,
 * with those of fonts and images. A package without a notice fails the build; Vite's `build.license` silently omits such a package.
 * Style sheets come from packages whose scripts the page also contains.
 */
export function licenceFile(fileName: string): Plugin {
  let root = '';
  return {
    name: 'framelane:licence-file',
    configResolved(config) {
      root = config.root;
    },
    generateBundle(_options, bundle) {
      const modules = Object.values(bundle).flatMap((file) =>
        file.type === 'chunk'
          ? file.moduleIds
          : file.originalFileNames.map((name) => realpath(resolve(root, name))),
      );
      const folders = [...new Set(modules.flatMap(packageFolder))];
      const sections = [...new Set(folders.map(section))].sort();
      const own = `# Licences\n\n## Framelane (Apache-2.0)\n\n${readFileSync(LICENCE, 'utf8')}`;
      this.emitFile({ type: 'asset', fileName, source: [own, ...sections].join('\n') });
    },
  };
}

/** The file itself, not a link to it in `node_modules`. The name as it is if a plugin has made the file. */
function realpath(name: string): string {
  return existsSync(name) ? realpathSync(name) : name;
}

/** Empty for a module of Framelane, and for one that Vite generates: its id starts with a null character. */
function packageFolder(module: string): string[] {
  const [folder] = /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(module) ?? [];
  return folder === undefined || module.startsWith('\0') ? [] : [folder];
}

function section(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const notice = noticeOf(folder);
  if (notice === '') {
    throw new Error(`${name} contains no licence text. Add it to infra/licences/texts.`);
  }
  return `## ${name} ${version}${license ? ` (${license})` : ''}\n\n${notice}\n`;
}
