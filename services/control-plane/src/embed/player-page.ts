import { type BuiltFrontEnd, FILES_PATH, findBuild, folderOf, keyOf } from '@framelane/web-build/front-ends';
import type { Response } from 'express';
import { type EmbedContent, escapeHtml } from './embed.service.ts';

/** Seconds after which a page that waits for its build loads again. */
const RELOAD_SECONDS = 2;

/** Finds the built player page and fills it. */
export class PlayerPage {
  readonly #folder: string;
  readonly #key: string;
  readonly #filesPath: string;
  readonly #buildFailed: (() => boolean) | undefined;
  #found: BuiltFrontEnd | undefined;

  /**
   * `baseUrl` ends in `/v1`. `buildFailed` is that of a build which this process has started; undefined if it starts none.
   */
  constructor(baseUrl: string, buildFailed: (() => boolean) | undefined, folder = folderOf('player')) {
    this.#folder = folder;
    this.#key = keyOf(folder);
    this.#filesPath = `${new URL(baseUrl).pathname}/embed/files/`;
    this.#buildFailed = buildFailed;
  }

  /** The build of this version; undefined until it exists. */
  build(): BuiltFrontEnd | undefined {
    this.#found ??= findBuild(this.#folder, this.#key);
    return this.#found;
  }

  /** Sends the page with its content, or why it is missing. */
  send(res: Response, content: EmbedContent): void {
    const build = this.build();
    res.type('html');
    if (build === undefined) {
      res.set('Content-Security-Policy', `default-src 'none'; ${frameAncestors(content)}`);
      res.set('Retry-After', String(RELOAD_SECONDS)).status(503).send(this.#missingPage());
      return;
    }
    const html = build.html
      .replaceAll(`${FILES_PATH}files/`, this.#filesPath)
      .replace('<!--head-->', () => headOf(content))
      .replace('>"state"<', () => `>${JSON.stringify(content.state).replaceAll('<', '\\u003c')}<`);
    res.set('Content-Security-Policy', policyOf(content, build)).status(content.status).send(html);
  }

  #missingPage(): string {
    const isRunning = this.#buildFailed?.() === false;
    const words = this.#buildFailed
      ? isRunning
        ? 'The player is being built. It appears by itself.'
        : 'The player could not be built. The log of Framelane says why (player.build_failed).'
      : 'The player was not built. Build it with: node packages/web-build/src/main.ts';
    const reload = isRunning ? `<meta http-equiv="refresh" content="${RELOAD_SECONDS}">` : '';
    return `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">${reload}\n<title>Player</title>\n<p>${words}</p>\n`;
  }
}

/** The page loads its own files, media of the control plane, and segments. Its styles in shadow roots have hashes. */
function policyOf(content: EmbedContent, { styleHashes }: BuiltFrontEnd): string {
  const sources = ["'self'", ...content.segmentOrigins].join(' ');
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${styleHashes.join(' ')}`,
    "img-src 'self' data:",
    `connect-src ${sources}`,
    // hls.js fills its tracks of captions from an empty one, which is a data: URL.
    `media-src ${sources} blob: data:`,
    "worker-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    frameAncestors(content),
  ].join('; ');
}

function frameAncestors({ frameOrigins }: EmbedContent): string {
  return `frame-ancestors ${frameOrigins === undefined ? '*' : ["'self'", ...frameOrigins].join(' ')}`;
}

function headOf({ state, oEmbedUrl }: EmbedContent): string {
  const title = `<title>${escapeHtml('title' in state ? state.title : 'Video')}</title>`;
  if (oEmbedUrl === undefined) return title;
  return `${title}\n<link rel="alternate" type="application/json+oembed" href="${escapeHtml(oEmbedUrl)}">`;
}
