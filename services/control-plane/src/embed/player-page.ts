import { type BuiltFrontEnd, FILES_PATH } from '@framelane/web-build/front-ends';
import type { Response, Router } from 'express';
import type { FrontEnd } from '../front-ends/front-end.ts';
import { type EmbedContent, escapeHtml } from './embed.service.ts';

/** Fills the built player page. */
export class PlayerPage {
  readonly #frontEnd: FrontEnd;
  readonly #filesPath: string;
  readonly #countsViews: boolean;
  #html: string | undefined;

  /** `baseUrl` ends in `/v1`. `countsViews`: the page reports what is watched. */
  constructor(baseUrl: string, frontEnd: FrontEnd, { countsViews }: { countsViews: boolean }) {
    this.#countsViews = countsViews;
    this.#frontEnd = frontEnd;
    this.#filesPath = `${new URL(baseUrl).pathname}/embed/files/`;
  }

  /** The files that the page loads. */
  files(): Router {
    return this.#frontEnd.files();
  }

  /** Sends the page with its content, or why it is missing. */
  send(res: Response, content: EmbedContent): void {
    const build = this.#frontEnd.build();
    if (build === undefined) {
      this.#frontEnd.sendMissing(res, frameAncestors(content));
      return;
    }
    this.#html ??= build.html.replaceAll(`${FILES_PATH}files/`, this.#filesPath);
    const html = this.#html
      .replace('<!--head-->', () => headOf(content, this.#countsViews))
      .replace('>"state"<', () => `>${JSON.stringify(content.state).replaceAll('<', '\\u003c')}<`);
    res
      .set('Content-Security-Policy', policyOf(content, build))
      .status(content.status)
      .type('html')
      .send(html);
  }
}

/** The page loads its own files, media of the control plane, and segments. The hashes allow the styles in its shadow roots. */
function policyOf(content: EmbedContent, { styleHashes }: BuiltFrontEnd): string {
  const sources = ["'self'", ...content.segmentOrigins].join(' ');
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' ${styleHashes.join(' ')}`,
    "img-src 'self' data:",
    `connect-src ${sources}`,
    // hls.js creates each captions track from an empty data: URL.
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

function headOf({ state, oEmbedUrl }: EmbedContent, countsViews: boolean): string {
  const lines = [`<title>${escapeHtml('title' in state ? state.title : 'Video')}</title>`];
  if (oEmbedUrl !== undefined) {
    lines.push(`<link rel="alternate" type="application/json+oembed" href="${escapeHtml(oEmbedUrl)}">`);
  }
  if (countsViews) lines.push('<meta name="beacons" content="on">');
  return lines.join('\n');
}
