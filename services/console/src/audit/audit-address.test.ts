import { expect, test } from '@jest/globals';
import { auditQueryOf, readAuditAddress, writeAuditAddress } from './audit-address.ts';

const FULL =
  'resourceId=vid_1&resourceType=video&action=updated&actorId=key_1&from=2026-11-21T09%3A00&to=2026-11-22T09%3A00';

test('an address is written as it was read', () => {
  expect(writeAuditAddress(readAuditAddress(FULL))).toBe(FULL);
});

test('unknown values mean all', () => {
  expect(writeAuditAddress(readAuditAddress('resourceType=x&action=y&from=soon&to=later'))).toBe('');
});

test('the API gets the filters that are set, with times in UTC', () => {
  expect(auditQueryOf(readAuditAddress(FULL))).toEqual({
    resourceId: 'vid_1',
    resourceType: 'video',
    action: 'updated',
    actorId: 'key_1',
    createdAfter: new Date('2026-11-21T09:00').toISOString(),
    createdBefore: new Date('2026-11-22T09:00').toISOString(),
  });
  expect(auditQueryOf(readAuditAddress(''))).toEqual({});
});
