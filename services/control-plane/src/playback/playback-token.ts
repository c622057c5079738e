import { hkdfSync } from 'node:crypto';
import { errors, jwtVerify, SignJWT } from 'jose';

const ALGORITHM = 'HS256';
const AUDIENCE = 'playback';

/** A JWT in compact form. The token is copied into playlists, and parsers accept more than this. */
const TOKEN_SHAPE = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The state of a token for a video. */
export type TokenVerdict = 'valid' | 'expired' | 'invalid' | 'without_downloads';

/**
 * The key that signs playback tokens, derived from `CONTENT_KEY_SECRET` (HKDF, RFC 5869). A separate secret would not add
 * security: a token gives access to a content key, and that secret opens all of them.
 */
export function playbackTokenKey(contentKeySecret: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', contentKeySecret, '', 'framelane playback tokens', 32));
}

/** A token that allows its bearer to play one video, and to fetch its downloads if `allowDownloads` is true. The times must be whole seconds. */
export async function signPlaybackToken(
  key: Uint8Array,
  {
    videoId,
    issuedAt,
    expiresAt,
    allowDownloads,
  }: { videoId: string; issuedAt: Date; expiresAt: Date; allowDownloads: boolean },
): Promise<string> {
  return new SignJWT(allowDownloads ? { downloads: true } : {})
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setAudience(AUDIENCE)
    .setSubject(videoId)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(key);
}

/** A use of a token: playback of a video at a time, or the download of a file of it. */
export type TokenUse = { videoId: string; now: Date; isDownload: boolean };

/** Verifies a token for a use. Any of the keys can have signed it. */
export async function judgePlaybackToken(
  keys: readonly Uint8Array[],
  token: string,
  use: TokenUse,
): Promise<TokenVerdict> {
  for (const key of keys) {
    const verdict = await judgeByKey(key, token, use);
    if (verdict !== 'invalid') return verdict;
  }
  return 'invalid';
}

async function judgeByKey(
  key: Uint8Array,
  token: string,
  { videoId, now, isDownload }: TokenUse,
): Promise<TokenVerdict> {
  if (!TOKEN_SHAPE.test(token)) return 'invalid';
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [ALGORITHM],
      audience: AUDIENCE,
      subject: videoId,
      currentDate: now,
      requiredClaims: ['exp'],
    });
    return isDownload && payload.downloads !== true ? 'without_downloads' : 'valid';
  } catch (error) {
    return error instanceof errors.JWTExpired ? 'expired' : 'invalid';
  }
}

/** The address with the playback token as its query, where a token is needed. */
export function withToken(uri: string, token: string | undefined): string {
  return token === undefined ? uri : `${uri}?token=${token}`;
}
