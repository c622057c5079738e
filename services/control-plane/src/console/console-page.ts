import { routeNotFound } from '@framelane/service-kit/middleware';
import { type BuiltFrontEnd, FILES_PATH } from '@framelane/web-build/front-ends';
import { type Response, Router } from 'express';
import { escapeHtml } from '../embed/embed.service.ts';
import type { FrontEnd } from '../front-ends/front-end.ts';

/** No other page may show the console in a frame. */
const FRAME_ANCESTORS = "frame-ancestors 'none'";

/**
 * The routes below `/console`: its files, and the page for every path without an extension. The page chooses its view by the path.
 * The page needs no session; only the API does. `providerName` is that of the OpenID Connect provider, if there is one. `adminCommand`
 * starts the administration command; without it, the page names that of the images.
 */
export function consolePage(
  frontEnd: FrontEnd,
  {
    publicUrl,
    engineUrl,
    providerName,
    adminCommand,
  }: {
    publicUrl: string;
    engineUrl: string;
    providerName?: string | undefined;
    adminCommand?: string | undefined;
  },
): Router {
  const filesPath = new URL(`${publicUrl}/console/files/`).pathname;
  const facts = metaElement('sign-in-provider', providerName) + metaElement('admin-command', adminCommand);
  const headers = {
    'Content-Security-Policy': policyOf(new URL(engineUrl).origin),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cache-Control': 'no-store',
  };

  const bodyOf = ({ html }: BuiltFrontEnd) =>
    Buffer.from(
      html.replaceAll(`${FILES_PATH}files/`, filesPath).replace('</head>', () => `${facts}</head>`),
    );
  let body: Buffer | undefined;

  const send = (res: Response) => {
    res.set(headers);
    const build = frontEnd.build();
    if (build === undefined) return frontEnd.sendMissing(res, FRAME_ANCESTORS);
    body ??= bodyOf(build);
    res.type('html').send(body);
  };

  const routes = Router();
  routes.use('/files', frontEnd.files());
  routes.get('/{*path}', (req, res, next) => {
    const name = req.path.slice(req.path.lastIndexOf('/'));
    if (name.includes('.')) next();
    else send(res);
  });
  return routes.use(routeNotFound);
}

/** The page loads its own files, uses the API, uploads to the engine, and shows the player page in a frame. */
function policyOf(engineOrigin: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self' ${engineOrigin}`,
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    FRAME_ANCESTORS,
  ].join('; ');
}

/** A fact that the page shows before somebody has signed in. */
function metaElement(name: string, content: string | undefined): string {
  return content ? `<meta name="${name}" content="${escapeHtml(content)}">\n` : '';
}
