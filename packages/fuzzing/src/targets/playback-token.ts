import {
  judgePlaybackToken,
  playbackTokenKey,
  signPlaybackToken,
} from '@framelane/control-plane/playback/playback-token';
import { joseHeader } from '../jose-header.ts';
import { expectThat } from '../promises.ts';
import type { Target } from '../target.ts';

const KEY = playbackTokenKey(new Uint8Array(32).fill(7));
const ISSUED = new Date('2026-01-01T00:00:00Z');
const GENUINE = await signPlaybackToken(KEY, {
  videoId: 'vid_1',
  issuedAt: ISSUED,
  expiresAt: new Date('2026-01-02T00:00:00Z'),
  allowDownloads: false,
});

export const target: Target = {
  maxBytes: 600,
  steps: { fixed: 3_000, perByte: 20 },
  libraries: ['jose'],
  dictionary: [
    '.',
    '..',
    '=',
    '-',
    '_',
    joseHeader({ alg: 'none' }),
    joseHeader({ alg: 'HS256', b64: false, crit: ['b64'] }),
    joseHeader({ alg: 'HS512' }),
    ...GENUINE.split('.'),
  ],
  seeds: [GENUINE, `${joseHeader({ alg: 'none' })}.${GENUINE.split('.')[1]}.a`],
  run: async (input) => {
    const token = input.toString();
    const use = { videoId: 'vid_1', now: new Date('2026-01-01T01:00:00Z') };
    const verdict = await judgePlaybackToken([KEY], token, { ...use, isDownload: false });
    const isGenuine = signedPart(token) === signedPart(GENUINE);
    expectThat(verdict === 'invalid' || isGenuine, 'nobody else makes tokens');
    const other = await judgePlaybackToken([KEY], token, { ...use, videoId: 'vid_2', isDownload: false });
    expectThat(other === 'invalid', 'a token is for one video');
    const download = await judgePlaybackToken([KEY], token, { ...use, isDownload: true });
    expectThat(
      download === (verdict === 'valid' ? 'without_downloads' : verdict),
      'downloads need a permission',
    );
  },
};

function signedPart(token: string): string {
  return token.split('.').slice(0, 2).join('.');
}
