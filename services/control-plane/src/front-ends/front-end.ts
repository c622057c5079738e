import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { routeNotFound } from '@framelane/service-kit/middleware';
import {
  type BuiltFrontEnd,
  type FrontEnd as FrontEndName,
  findBuild,
  folderOf,
  keyOf,
} from '@framelane/web-build/front-ends';
import { type RequestHandler, type Response, Router } from 'express';
import { constantFile } from '../http/constant-file.ts';

/** Seconds after which a page that waits for its build loads again. */
const RELOAD_SECONDS = 2;

/** What the pages that stand in for a missing build call it. */
const WORDS: Record<FrontEndName, string> = {
  player: 'player',
  console: 'console',
  'docs-site': 'documentation',
};

/** Finds the build of a front end, and serves its files. */
export class FrontEnd {
  readonly #name: FrontEndName;
  readonly #folder: string;
  readonly #key: string;
  readonly #buildFailed: ((page: FrontEndName) => boolean) | undefined;
  #found: BuiltFrontEnd | undefined;
  #handlers: ReadonlyMap<string, RequestHandler> | undefined;

  /** `buildFailed` says whether the build that this process started has failed; undefined if this process builds nothing. */
  constructor(
    name: FrontEndName,
    buildFailed: ((page: FrontEndName) => boolean) | undefined,
    folder = folderOf(name),
  ) {
    this.#name = name;
    this.#folder = folder;
    this.#key = keyOf(folder);
    this.#buildFailed = buildFailed;
  }

  /** The build of this version; undefined until it exists. */
  build(): BuiltFrontEnd | undefined {
    this.#found ??= findBuild(this.#folder, this.#key);
    return this.#found;
  }

  /** The files that the page loads. Their names contain a hash of their content. */
  files(): Router {
    const files = Router();
    files.get('/:name', (req, res, next) => {
      const handle = this.#handlersOfFiles()?.get(req.params.name);
      return handle === undefined ? next() : handle(req, res, next);
    });
    return files.use(routeNotFound);
  }

  /** A handler for each file, by name; undefined until the build exists. */
  #handlersOfFiles(): ReadonlyMap<string, RequestHandler> | undefined {
    const folder = this.build()?.files;
    if (folder === undefined) return undefined;
    this.#handlers ??= new Map(readdirSync(folder).map((name) => [name, constantFile(join(folder, name))]));
    return this.#handlers;
  }

  /** Sends a page that says why there is no build. While a build runs, the page reloads itself. */
  sendMissing(res: Response, frameAncestors: string): void {
    const isRunning = this.#buildFailed?.(this.#name) === false;
    const words = WORDS[this.#name];
    const reason = this.#buildFailed
      ? isRunning
        ? `The ${words} is being built. This page reloads itself.`
        : `The ${words} could not be built. The log of Framelane says why (pages.build_failed).`
      : `The ${words} was not built. Build it with: node packages/web-build/src/main.ts`;
    const title = `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
    const reload = isRunning ? `<meta http-equiv="refresh" content="${RELOAD_SECONDS}">` : '';
    res.set({
      'Content-Security-Policy': `default-src 'none'; ${frameAncestors}`,
      'Retry-After': String(RELOAD_SECONDS),
    });
    const html = `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">${reload}\n<title>${title}</title>\n<p>${reason}</p>\n`;
    res.status(503).type('html').send(html);
  }
}
