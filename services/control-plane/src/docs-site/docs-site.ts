import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { routeNotFound } from '@framelane/service-kit/middleware';
import { REFERENCE_URL, SITE_URL } from '@framelane/web-build/docs-placeholders';
import { type RequestHandler, type Response, Router } from 'express';
import type { FrontEnd } from '../front-ends/front-end.ts';
import { compressedBody } from '../http/constant-file.ts';
import { OWN_FILES_POLICY } from '../http/own-files-policy.ts';

const FRAME_ANCESTORS = "frame-ancestors 'none'";

/** The page for a path without a page. */
const MISSING = '404.html';

/** The text files of the site, in which placeholders are replaced. Other files are images. */
const TEXTS = ['.html', '.md', '.txt'];

/** The documentation: pages for browsers and the same as Markdown. It is the same for everybody, and needs no credentials. */
export class DocsSite {
  readonly #frontEnd: FrontEnd;
  readonly #publicUrl: string;
  readonly #path: string;
  #found: ReadonlyMap<string, RequestHandler> | undefined;

  constructor(frontEnd: FrontEnd, publicUrl: string) {
    this.#frontEnd = frontEnd;
    this.#publicUrl = publicUrl;
    this.#path = new URL(`${publicUrl}/docs`).pathname;
  }

  /** The routes below `/docs`. A page has its name as its path, with or without `.html`; its Markdown has `.md`. */
  pages(): Router {
    const routes = Router();
    routes.use('/files', this.#frontEnd.files());
    routes.get('/{*path}', (req, res, next) => {
      const isRoot = req.path === '/' && !req.originalUrl.split('?', 1)[0]?.endsWith('/');
      if (isRoot) return res.redirect(308, `${this.#path}/`);
      const files = this.#files();
      if (files === undefined) return this.#frontEnd.sendMissing(res, FRAME_ANCESTORS);
      const name = req.path.slice(1) || 'index.html';
      const found = [name, `${name}.html`].find((each) => files.has(each));
      // Readers and other programs append slashes.
      const page = name.replace(/\/$/, '');
      if (found === undefined && files.has(`${page}.html`)) return res.redirect(308, `${this.#path}/${page}`);
      if (found === undefined || found === MISSING) res.status(404);
      return files.get(found ?? MISSING)?.(req, res, next);
    });
    return routes.use(routeNotFound);
  }

  /** `/llms.txt` and `/llms-full.txt` (llmstxt.org). */
  forLanguageModels(): RequestHandler {
    return (req, res, next) => {
      const files = this.#files();
      if (files === undefined) return this.#frontEnd.sendMissing(res, FRAME_ANCESTORS);
      return files.get(req.path.slice(1))?.(req, res, next);
    };
  }

  /** A handler for each file, by its path in the build; undefined until the build exists. */
  #files(): ReadonlyMap<string, RequestHandler> | undefined {
    const folder = this.#frontEnd.build()?.pages;
    if (folder === undefined) return undefined;
    this.#found ??= new Map(
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => extname(name) !== '')
        .map((name) => [name, this.#handlerOf(name, join(folder, name))]),
    );
    return this.#found;
  }

  #handlerOf(name: string, file: string): RequestHandler {
    const extension = extname(name);
    const read = async () => {
      const content = await readFile(file);
      return TEXTS.includes(extension)
        ? Buffer.from(this.#addressed(content.toString('utf8'), extension))
        : content;
    };
    const send = compressedBody(read, { extension, cacheControl: 'public, no-cache' });
    if (extension !== '.html') return send;
    const markdown = `<${this.#path}/${name.replace(/\.html$/, '.md')}>; rel="alternate"; type="text/markdown"`;
    return (req, res, next) => {
      setPageHeaders(res);
      if (res.statusCode === 200) res.set('Link', markdown);
      return send(req, res, next);
    };
  }

  /** Pages have paths, so that they also work under another host name. Texts for programs have whole URLs. */
  #addressed(text: string, extension: string): string {
    const base = extension === '.html' ? this.#path.replace(/\/docs$/, '') : this.#publicUrl;
    return text
      .replaceAll(SITE_URL, () => `${base}/docs/`)
      .replaceAll(REFERENCE_URL, () => `${base}/v1/docs`);
  }
}

function setPageHeaders(res: Response): void {
  res.set({ 'Content-Security-Policy': OWN_FILES_POLICY, 'Cross-Origin-Opener-Policy': 'same-origin' });
}
