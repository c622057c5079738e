/** The header of a token, as JWTs and JWEs begin with it (RFC 7515 §7.1). */
export function joseHeader(header: object): string {
  return Buffer.from(JSON.stringify(header)).toString('base64url');
}
