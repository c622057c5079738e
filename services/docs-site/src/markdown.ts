import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SITE_URL } from '@framelane/web-build/docs-placeholders';
import hljs from 'highlight.js/lib/common';
import { imageSize } from 'image-size';
import { type Diagram, drawDiagram } from './diagrams.ts';
import { escapeHtml } from './html.ts';
import { anchorOf } from './markdown-links.ts';
import { ROOT } from './repository.ts';

/** Names of languages in code blocks that the highlighter has under another name. */
const LANGUAGES: Record<string, string> = { sh: 'bash', html: 'xml', nginx: 'ini', dockerfile: 'bash' };

/** The part of markdown-it that is used here: Eleventy brings the package, without its types. */
type Token = {
  type: string;
  content: string;
  info: string;
  children: Token[] | null;
  attrSet(name: string, value: string): void;
  attrGet(name: string): string | null;
};
type Render = (tokens: Token[], index: number, options: object, env: PageState, self: Renderer) => string;
type Renderer = { renderToken(tokens: Token[], index: number, options: object): string };
export type MarkdownIt = {
  renderer: { rules: Record<string, Render | undefined> };
  set(options: object): MarkdownIt;
};

/** What rendering a page remembers: the headings so far. */
type PageState = { anchors?: Map<string, number> };

/** Sets how the Markdown of the pages becomes HTML. `draw` gets each diagram. */
export function configureMarkdown(md: MarkdownIt, onDiagram: (diagram: Diagram) => void): void {
  md.set({ html: true, linkify: false, typographer: false });
  const { rules } = md.renderer;

  rules.heading_open = (tokens, index, options, env, self) => {
    tokens[index]?.attrSet('id', uniqueAnchor(env, textOf(tokens[index + 1])));
    return self.renderToken(tokens, index, options);
  };

  rules.fence = (tokens, index) => {
    const { info = '', content = '' } = tokens[index] ?? {};
    if (info.trim() !== 'mermaid') return codeBlock(content, info.trim());
    const diagram = drawDiagram(content);
    onDiagram(diagram);
    return diagramHtml(diagram, content);
  };
  rules.code_block = (tokens, index) => codeBlock(tokens[index]?.content ?? '', '');

  // Wide tables scroll, with keys as well.
  rules.table_open = () => '<div class="table" role="region" aria-label="Table" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';

  rules.image = (tokens, index) => imageHtml(tokens[index]?.attrGet('src') ?? '', textOf(tokens[index]));
}

/** The anchor of a heading. A second heading with the same words gets a number, as on GitHub. */
function uniqueAnchor(env: PageState, heading: string): string {
  env.anchors ??= new Map();
  const anchor = anchorOf(heading);
  const earlier = env.anchors.get(anchor) ?? 0;
  env.anchors.set(anchor, earlier + 1);
  return earlier === 0 ? anchor : `${anchor}-${earlier}`;
}

function textOf(token: Token | undefined): string {
  return (token?.children ?? []).map(({ content }) => content).join('');
}

function codeBlock(content: string, info: string): string {
  const language = LANGUAGES[info] ?? info;
  const html =
    hljs.getLanguage(language) === undefined
      ? escapeHtml(content)
      : hljs.highlight(content, { language }).value;
  return `<div class="code"><pre tabindex="0"><code>${html}</code></pre></div>\n`;
}

/** Pixels of a diagram that can be read when it is as narrow as a page. */
const LARGEST_DIAGRAM = 1000;

/** The text of the diagram is for people who cannot see it. */
function diagramHtml({ name, width, height }: Diagram, text: string): string {
  const image = (theme: string) =>
    `<img class="of-${theme}" src="${SITE_URL}images/${name}-${theme}.svg" width="${width}" height="${height}" alt="Diagram; its text follows" loading="lazy">`;
  return `<figure class="diagram${width > LARGEST_DIAGRAM ? ' wide' : ''}"><div class="scroll" tabindex="0" role="region" aria-label="Diagram">${image('light')}${image('dark')}</div>
<details><summary>The diagram as text</summary>${codeBlock(text, '')}</details></figure>\n`;
}

/** With its size, so that the text below does not move when the image arrives. */
function imageHtml(source: string, text: string): string {
  const path = join(ROOT, 'docs', source.replace(SITE_URL, ''));
  const { width, height } = imageSize(readFileSync(path));
  return `<img src="${source}" width="${width}" height="${height}" alt="${escapeHtml(text)}" loading="lazy">`;
}
