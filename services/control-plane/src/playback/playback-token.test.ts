import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { judgePlaybackToken, playbackTokenKey, signPlaybackToken } from './playback-token.ts';

const secret = Buffer.alloc(32, 1);
const key = playbackTokenKey(secret);
const VIDEO = 'vid_01m7y5g5zqfqetgq1je8rn7s3t';

const at = (seconds: number) => new Date(Date.now() + seconds * 1000);
const token = (expiresIn = 60, videoId = VIDEO, signedWith = key, allowDownloads = false) =>
  signPlaybackToken(signedWith, { videoId, issuedAt: at(-100), expiresAt: at(expiresIn), allowDownloads });
const judge = (shown: string, videoId = VIDEO, isDownload = false) =>
  judgePlaybackToken([playbackTokenKey(Buffer.alloc(32, 3)), key], shown, {
    videoId,
    now: new Date(),
    isDownload,
  });

describe('playback tokens', () => {
  test('give access to their video only, until they expire', async () => {
    expect(await judge(await token())).toBe('valid');
    expect(await judge(await token(), 'vid_other')).toBe('invalid');
    expect(await judge(await token(-1))).toBe('expired');
  });

  test('allow downloads only if they were issued for it', async () => {
    const downloading = await token(60, VIDEO, key, true);
    expect(await judge(downloading)).toBe('valid');
    expect(await judge(downloading, VIDEO, true)).toBe('valid');
    expect(await judge(await token(), VIDEO, true)).toBe('without_downloads');
    expect(await judge(await token(-1, VIDEO, key, true), VIDEO, true)).toBe('expired');
  });

  test('that an earlier version issued stay valid', async () => {
    const earlierKey = Buffer.from('607d277d06be40674abdf97581162c9803e09ae633f58d4f6b5323a471fcad87', 'hex');
    const earlier = new SignJWT().setProtectedHeader({ alg: 'HS256' }).setAudience('playback');
    const expiring = earlier.setSubject(VIDEO).setIssuedAt(at(-100)).setExpirationTime(at(60));
    expect(await judge(await expiring.sign(earlierKey))).toBe('valid');
  });

  test('need a signature with our key', async () => {
    const otherKey = playbackTokenKey(Buffer.alloc(32, 2));
    expect(await judge(await token(60, VIDEO, otherKey))).toBe('invalid');
    expect(await judge(await token(-1, VIDEO, otherKey))).toBe('invalid');
    const sealing = await token(60, VIDEO, secret);
    expect(await judge(sealing)).toBe('invalid');
    const [header, , signature] = (await token()).split('.');
    const claims = Buffer.from(JSON.stringify({ aud: 'playback', sub: VIDEO, exp: 9_999_999_999 })).toString(
      'base64url',
    );
    expect(await judge(`${header}.${claims}.${signature}`)).toBe('invalid');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    expect(await judge(`${none}.${claims}.`)).toBe('invalid');
    expect(await judge(`${none}.${claims}.AAAA`)).toBe('invalid');
    const sha512 = Buffer.from('{"alg":"HS512"}').toString('base64url');
    const mac = createHmac('sha512', key).update(`${sha512}.${claims}`).digest('base64url');
    expect(await judge(`${sha512}.${claims}.${mac}`)).toBe('invalid');
  });

  test('need the right audience and an expiry', async () => {
    const jwt = () => new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(VIDEO);
    expect(await judge(await jwt().setExpirationTime('1h').setAudience('upload').sign(key))).toBe('invalid');
    expect(await judge(await jwt().setAudience('playback').sign(key))).toBe('invalid');
  });

  test('are only accepted as a JWT in compact form', async () => {
    const good = await token();
    for (const odd of ['', 'x', `${good}\n`, ` ${good}`, `${good}=`, `${good}.x`, `${good}"#`]) {
      expect(await judge(odd)).toBe('invalid');
    }
  });
});
