import { expect, test } from '@jest/globals';
import { queryOf, readRequestAddress, writeRequestAddress } from './request-address.ts';

const FULL =
  'view=errors&status=4xx&method=GET&path=%2Fv1%2Fvideos&keyId=key_1&code=video_not_found&requestId=r1&from=2026-11-21T09%3A00&to=2026-11-22T09%3A00';

test('an address is written as it was read', () => {
  expect(writeRequestAddress(readRequestAddress(FULL))).toBe(FULL);
});

test('unknown values mean all', () => {
  expect(writeRequestAddress(readRequestAddress('view=x&status=9xx&method=BREW&from=soon&to=later'))).toBe(
    '',
  );
});

test('the API gets the filters that are set, with times in UTC', () => {
  expect(queryOf(readRequestAddress(FULL))).toEqual({
    status: '4xx',
    method: 'GET',
    path: '/v1/videos',
    keyId: 'key_1',
    code: 'video_not_found',
    createdAfter: new Date('2026-11-21T09:00').toISOString(),
    createdBefore: new Date('2026-11-22T09:00').toISOString(),
  });
  expect(queryOf(readRequestAddress(''))).toEqual({});
});
