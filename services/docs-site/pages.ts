import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
// @ts-expect-error The package has no types.
import Eleventy from '@11ty/eleventy';
import { SITE_URL } from '@framelane/web-build/docs-placeholders';
import { FILES_PATH } from '@framelane/web-build/front-ends';
import type { Diagram } from './src/diagrams.ts';
import { llmsFull, llmsIndex } from './src/llms.ts';
import { configureMarkdown, type MarkdownIt } from './src/markdown.ts';
import { markdownPage } from './src/markdown-page.ts';
import type { Page } from './src/page.ts';
import { type Frame, missingPageHtml, pageHtml } from './src/page-html.ts';
import { ROOT } from './src/repository.ts';
import { searchIndex } from './src/search-index.ts';
import { sitePages } from './src/site-pages.ts';
import { imageFiles } from './src/source-files.ts';

/** Writes the pages of the site into `<outDir>/pages`, around the shell that Vite has built as `<outDir>/index.html`. */
export async function writePages(outDir: string): Promise<void> {
  const folder = join(outDir, 'pages');
  const pages = sitePages();
  const { rendered, diagrams } = await render(pages, outDir);
  const index = searchIndex(rendered);
  const searchFile = `files/search-${hashOf(index)}.json`;
  const shell = (await readFile(join(outDir, 'index.html'), 'utf8'))
    .replaceAll(`${FILES_PATH}files/`, `${SITE_URL}files/`)
    .replace('<!--head-->', await themeScript(outDir));
  const frame: Frame = { shell, searchFile: SITE_URL + searchFile, pages };

  await writeFile(join(outDir, searchFile), index);
  const write = async (name: string, text: string) => {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  };
  for (const { page, html } of rendered) {
    await write(`${page.name}.html`, pageHtml(page, html, frame));
    await write(`${page.name}.md`, markdownPage(page));
  }
  await write('404.html', missingPageHtml(frame));
  await write('llms.txt', llmsIndex(pages));
  await write('llms-full.txt', llmsFull(pages, markdownPage));
  for (const { name, svg } of diagrams) {
    await write(`images/${name}-light.svg`, svg.light);
    await write(`images/${name}-dark.svg`, svg.dark);
  }
  for (const image of imageFiles())
    await copyFile(join(ROOT, image), join(folder, image.replace('docs/', '')));
}

/** Renders the Markdown of the pages with Eleventy. */
async function render(pages: readonly Page[], outDir: string) {
  const diagrams: Diagram[] = [];
  // Eleventy reads templates from a folder and would write pages into another one. These come from memory.
  const empty = join(outDir, 'no-templates');
  await mkdir(empty);
  const eleventy = new Eleventy(relative(process.cwd(), empty), relative(process.cwd(), empty), {
    quietMode: true,
    configPath: null,
    config(eleventyConfig: EleventyConfig) {
      eleventyConfig.setTemplateFormats(['md']);
      eleventyConfig.amendLibrary('md', (md) => configureMarkdown(md, (diagram) => diagrams.push(diagram)));
      for (const { name, markdown } of pages)
        eleventyConfig.addTemplate(`${name}.md`, markdown, {
          permalink: `${name}.html`,
          templateEngineOverride: 'md',
        });
    },
  });
  const results: { url: string; content: string }[] = await eleventy.toJSON();
  await rm(empty, { recursive: true });
  const contents = new Map(results.map(({ url, content }) => [url, content]));
  const rendered = pages.map((page) => {
    const html = contents.get(page.name === 'index' ? '/' : `/${page.name}.html`);
    if (html === undefined) throw new Error(`Eleventy has not rendered ${page.name}`);
    return { page, html };
  });
  return { rendered, diagrams };
}

/** The part of Eleventy's configuration that is used here; the package has no types. */
type EleventyConfig = {
  setTemplateFormats(formats: string[]): void;
  amendLibrary(name: 'md', amend: (md: MarkdownIt) => void): void;
  addTemplate(path: string, content: string, data: object): void;
};

/** The element of a script that runs before the page is shown, so that it is not shown in the other theme first. */
async function themeScript(outDir: string): Promise<string> {
  const script = await readFile(join(import.meta.dirname, 'browser/theme.js'));
  const file = `files/theme-${hashOf(script)}.js`;
  await copyFile(join(import.meta.dirname, 'browser/theme.js'), join(outDir, file));
  return `<!--head-->\n<script src="${SITE_URL}${file}"></script>`;
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 8);
}
