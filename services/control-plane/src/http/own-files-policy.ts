/** The Content-Security-Policy of pages that load files of their origin only, and `data:` images, which style sheets contain. */
export const OWN_FILES_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
