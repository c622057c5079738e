import type { Logger } from '@framelane/service-kit/logger';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { auditedRequestId } from '../audit/actor-of-request.ts';
import type { SessionCookie } from '../auth/session-cookie.ts';
import { clientNetwork } from '../rate-limits/client-network.ts';
import type { FailureLimit } from '../rate-limits/failure-limit.ts';
import type { OpenIdSignInService } from './openid-sign-in.service.ts';
import { PendingSignInCookie } from './pending-sign-in-cookie.ts';
import { reasonOf } from './sign-in-failure.ts';

/**
 * The routes below `/console/sign-in`, to which the browser navigates. They are not operations of the API: each response is a redirect
 * to the provider or to the console.
 */
export function openIdRoutes(deps: {
  signIn: OpenIdSignInService;
  cookie: SessionCookie;
  failures: FailureLimit;
  logger: Logger;
  publicUrl: string;
}): Router {
  const { signIn, cookie, failures, logger, publicUrl } = deps;
  const pendingCookie = new PendingSignInCookie(publicUrl);
  const consoleUrl = `${publicUrl}/console/`;

  /**
   * Redirects failures to the sign-in page, which has a message for each reason. The reason is in the fragment, which
   * reaches no log.
   */
  const orFail =
    (handle: (req: Request, res: Response) => Promise<string>): RequestHandler =>
    async (req, res) => {
      res.set('Cache-Control', 'no-store');
      try {
        res.redirect(303, await handle(req, res));
      } catch (error) {
        const reason = reasonOf(error);
        logger.warn('console_sign_in.failed', { requestId: req.id, reason, error });
        const fragment = new URLSearchParams({ failure: reason, request: req.id });
        res.redirect(303, `${consoleUrl}#${fragment}`);
      }
    };

  return Router()
    .get(
      '/start',
      orFail(async (_req, res) => {
        const { url, pending } = await signIn.begin();
        pendingCookie.set(res, pending);
        return url;
      }),
    )
    .get(
      '/callback',
      orFail(async (req, res) => {
        pendingCookie.clear(res);
        const query = new URL(req.originalUrl, consoleUrl).search;
        const pending = pendingCookie.read(req) ?? '';
        // Both, because the same query may be refused without the cookie and be valid with it.
        const credential = { kind: 'code', secret: `${pending} ${query}` } as const;
        const token = await failures.guard(clientNetwork(req), credential, () =>
          signIn.complete(query, pending, {
            userAgent: req.get('user-agent'),
            requestId: auditedRequestId(req),
          }),
        );
        cookie.set(res, token);
        return consoleUrl;
      }),
    );
}
