import { createHmac, timingSafeEqual } from 'node:crypto';
import { Problem } from '@framelane/service-kit/problem';
import type { CookieOptions, Request, Response } from 'express';

/** The header with the CSRF token. */
const CSRF_HEADER = 'X-Framelane-CSRF';

/** A session expires after this many days, even if it is in use. */
export const SESSION_DAYS = 7;

/** The cookie of a console session, and the check that a request with it comes from the console (ADR 43). */
export class SessionCookie {
  /** With the prefix, browsers accept the cookie only from this host over https (RFC 6265bis §4.1.3.2). */
  readonly #name: string;
  /** Tokens are letters, digits and underscores. */
  readonly #pattern: RegExp;
  readonly #options: CookieOptions;
  readonly #origin: string;
  readonly #consoleUrl: string;

  /** `publicUrl` is the root of the public address. */
  constructor(publicUrl: string) {
    const { protocol, origin } = new URL(publicUrl);
    const secure = protocol === 'https:';
    this.#name = secure ? '__Host-framelane' : 'framelane';
    this.#pattern = new RegExp(`(?:^|; *)${this.#name}=(\\w+)`);
    this.#options = { httpOnly: true, sameSite: 'strict', path: '/', secure };
    this.#origin = origin;
    this.#consoleUrl = `${publicUrl}/console/`;
  }

  set(res: Response, token: string): void {
    res.cookie(this.#name, token, { ...this.#options, maxAge: SESSION_DAYS * 86_400_000 });
  }

  clear(res: Response): void {
    res.cookie(this.#name, '', { ...this.#options, maxAge: 0 });
  }

  /** The unverified token of a request; undefined without a cookie, or with an Authorization header. */
  tokenOf(req: Request): string | undefined {
    const { authorization, cookie = '' } = req.headers;
    return authorization === undefined ? this.#pattern.exec(cookie)?.[1] : undefined;
  }

  /** Throws 403 `csrf_check_failed` unless a request with a session comes from the console. */
  requireConsole(req: Request): void {
    this.refuseOtherOrigins(req);
    if (isRead(req)) return;
    const given = Buffer.from(req.get(CSRF_HEADER) ?? '');
    const expected = Buffer.from(csrfTokenOf(this.tokenOf(req) ?? ''));
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
      throw new Problem('csrf_check_failed', `Send the csrfToken of the session as ${CSRF_HEADER}.`);
    }
  }

  /**
   * Throws 403 `csrf_check_failed` if a page of another origin may have sent the request. Another port of the same host is the same
   * site, so `SameSite=Strict` alone does not suffice. Browsers send `Origin` with every request that is not a read, so without it such a
   * request is refused. A GET or HEAD from the same site passes if it has no `Origin`, for example that of an image.
   */
  refuseOtherOrigins(req: Request): void {
    const site = req.get('sec-fetch-site');
    const origin = req.get('origin');
    const isRefused = isRead(req)
      ? site === 'cross-site' || (origin !== undefined && origin !== this.#origin)
      : (site !== undefined && site !== 'same-origin') || origin !== this.#origin;
    if (isRefused) throw this.#refusal();
  }

  #refusal(): Problem {
    return new Problem(
      'csrf_check_failed',
      `A session does not work from other sites. Open the console at ${this.#consoleUrl}.`,
    );
  }
}

function isRead({ method }: Request): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** The CSRF token of a session. It is derived from the session token, which scripts cannot read. */
export function csrfTokenOf(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}
