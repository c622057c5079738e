import { expect, test } from '@jest/globals';
import { isTypeId, scrubbed } from './shown-text.ts';

test.each([
  ['vid_01m7y5g5zqfqetgq1je8rn7s3t', true],
  ['ut_01m7y5g5zqfqetgq1je8rn7s3t', false],
  ['vid_01m7y5g5zqfqetgq1je8rn7s3', false],
  ['vid_81m7y5g5zqfqetgq1je8rn7s3t', false],
  ['vid_01m7y5g5zqfqetgq1je8rn7s3t ', false],
])('%s is an id: %s', (value, expected) => expect(isTypeId(value)).toBe(expected));

test.each([
  ['/v1/videos/svc_live_abcdefgh1', '/v1/videos/[secret]'],
  ['a whsec_abc+/efgh= b', 'a [secret] b'],
  ['Bearer abcdefgh', '[secret]'],
  ['see https://a:b@c.example/d?e#f, or http://[, too', 'see https://c.example/… or [URL] too'],
  ['see HTTPS://a:b@c.example/d', 'see https://c.example/…'],
  ['the bearer of ut_ and eyJ', 'the bearer of ut_ and eyJ'],
  ['half \uD800 of a pair\0', 'half \uFFFD of a pair\uFFFD'],
])('%j is stored as %j', (value, stored) => expect(scrubbed(value, 100)).toBe(stored));

test('a secret that the limit cuts leaves nothing readable', () => {
  expect(scrubbed(`ab svc_live_${'X'.repeat(43)}`, 30)).toBe('ab [secret]');
});
