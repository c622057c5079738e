/** An address with the playback token that its reader needs, if one is needed. */
export function withToken(uri: string, token: string | undefined): string {
  return token === undefined ? uri : `${uri}?token=${token}`;
}
