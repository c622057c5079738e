import type { RequestHandler } from 'express';

/**
 * What every answer tells browsers (OWASP REST Security). Answers are data: shown as a page they may load nothing and be framed
 * by nobody, and only pages of the same origin embed them. A handler whose answer is something else sets its own over these.
 * Strict-Transport-Security is left to whoever ends TLS, since only there is known that it is used.
 */
export const securityHeaders: RequestHandler = (_req, res, next) => {
  res.set({
    'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'same-origin',
  });
  next();
};

/** For what pages of any origin embed, also such as isolate themselves with Cross-Origin-Embedder-Policy. */
export const embeddableAnywhere: RequestHandler = (_req, res, next) => {
  res.set('Cross-Origin-Resource-Policy', 'cross-origin');
  next();
};
