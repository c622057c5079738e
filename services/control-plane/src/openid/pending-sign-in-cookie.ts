import type { CookieOptions, Request, Response } from 'express';

/** The cookie with the pending sign-in at the provider. */
export class PendingSignInCookie {
  /** With the prefix, no other host and no http page can set it. */
  readonly #name: string;
  readonly #pattern: RegExp;
  readonly #options: CookieOptions;

  /** `publicUrl` is the root of the public address. */
  constructor(publicUrl: string) {
    const secure = new URL(publicUrl).protocol === 'https:';
    this.#name = secure ? '__Host-framelane-sign-in' : 'framelane-sign-in';
    this.#pattern = new RegExp(`(?:^|; *)${this.#name}=([\\w.-]+)`);
    // Lax, because the site of the provider redirects the browser back.
    this.#options = { httpOnly: true, sameSite: 'lax', path: '/', secure };
  }

  /** Without an expiry: the value itself has one. */
  set(res: Response, value: string): void {
    res.cookie(this.#name, value, this.#options);
  }

  clear(res: Response): void {
    res.cookie(this.#name, '', { ...this.#options, maxAge: 0 });
  }

  read(req: Request): string | undefined {
    return this.#pattern.exec(req.headers.cookie ?? '')?.[1];
  }
}
