import { ConnectionError } from '@framelane/client';
import { CliError } from '../cli-error.ts';
import { DocsIndex, type DocsPage } from './docs-index.ts';

/** More would not be documentation of Framelane. */
const MAX_PAGES = 500;
const MAX_BYTES = 2 * 1024 ** 2;
const CONCURRENCY = 4;

/** The documentation that an installation serves as Markdown (https://llmstxt.org). */
export class DocsPages {
  /** The URL of the installation, without `/v1`. */
  readonly #root: string;
  readonly #signal: AbortSignal;
  #all: Promise<DocsPage[]> | undefined;
  #index: DocsIndex | undefined;

  constructor(baseUrl: string, signal: AbortSignal) {
    this.#root = baseUrl.replace(/\/v1$/, '');
    this.#signal = signal;
  }

  /** All pages. They are fetched once. Throws a CliError if the installation has none. */
  async all(): Promise<DocsPage[]> {
    this.#all ??= this.#fetchAll();
    try {
      return await this.#all;
    } catch (error) {
      this.#all = undefined;
      throw error;
    }
  }

  /** An index of all pages. Throws a CliError if the installation has none. */
  async index(): Promise<DocsIndex> {
    const pages = await this.all();
    this.#index ??= new DocsIndex(pages);
    return this.#index;
  }

  /** One page, by its name, such as `uploads`, or by a link to it in another page. Throws a CliError if there is none. */
  async page(nameOrLink: string): Promise<DocsPage> {
    const name = pageName(nameOrLink);
    const page = (await this.all()).find((each) => each.name === name);
    if (page !== undefined) return page;
    const names = (await this.all()).map((each) => each.name).join(', ');
    throw new CliError(`There is no page "${name}". The pages are: ${names}.`);
  }

  async #fetchAll(): Promise<DocsPage[]> {
    const index = await this.#fetchText(`${this.#root}/llms.txt`);
    if (index === undefined)
      throw new CliError(
        `This installation serves no documentation for programs (${this.#root}/llms.txt). Its API reference is at ${this.#root}/v1/docs.`,
      );
    const links = linkedPages(index, `${this.#root}/docs/`);
    const pages: DocsPage[] = [];
    const next = links.values();
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (const { name, title, url } of next) {
          const text = await this.#fetchText(url);
          if (text !== undefined) pages.push({ name, title, text });
        }
      }),
    );
    return pages.toSorted((a, b) => a.name.localeCompare(b.name));
  }

  /** Undefined if there is no such file. */
  async #fetchText(url: string): Promise<string | undefined> {
    const response = await fetch(url, { signal: this.#signal, redirect: 'error' }).catch((cause: unknown) => {
      throw new ConnectionError(url, cause);
    });
    if (response.status === 404) return undefined;
    if (!response.ok) throw new CliError(`The response to ${url} has the status ${response.status}.`);
    const type = response.headers.get('content-type') ?? '';
    // A proxy or another service answers there.
    if (!/^text\/(plain|markdown)/.test(type)) return undefined;
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_BYTES) throw new CliError(`${url} is too large for a page of documentation.`);
    }
    return text;
  }
}

/** The name of a page in a link such as `https://video.example.com/docs/uploads.md#limits`. A name stays as it is. */
export function pageName(nameOrLink: string): string {
  return nameOrLink
    .replace(/#.*$/s, '')
    .replace(/^.*\/docs\//s, '')
    .replace(/\.md$/, '');
}

/**
 * The links of an index to Markdown files below `/docs/`, each once. Their files are at `docsUrl`, whatever host the index names: the
 * installation may have several.
 */
export function linkedPages(index: string, docsUrl: string): { name: string; title: string; url: string }[] {
  const found = new Map<string, { name: string; title: string; url: string }>();
  for (const [, title = '', target = ''] of index.matchAll(/\[([^\]\n]{1,200})\]\(([^)\s]{1,500})\)/g)) {
    const path = URL.canParse(target, docsUrl) ? new URL(target, docsUrl).pathname : '';
    const [, ...below] = path.split('/docs/');
    const name = below.join('/docs/').slice(0, -'.md'.length);
    if (!path.endsWith('.md') || name === '' || found.has(name) || found.size >= MAX_PAGES) continue;
    found.set(name, { name, title, url: `${docsUrl}${name}.md` });
  }
  return [...found.values()];
}
