/**
 * The Content-Disposition that saves a file under this name (RFC 6266): `filename*` has the exact name, `filename` is for clients
 * that do not know RFC 8187.
 */
export function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["%\\]/gu, '_');
  // Of the characters that encodeURIComponent keeps, these are not allowed (RFC 8187 §3.2.1).
  const encoded = encodeURIComponent(filename.toWellFormed()).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`;
}
