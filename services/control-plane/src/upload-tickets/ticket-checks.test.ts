import { Problem } from '@framelane/service-kit/problem';
import { describe, expect, test } from '@jest/globals';
import {
  fileTooLarge,
  requireShare,
  requireUnspent,
  requireUsable,
  ticketExpired,
  tokenInvalid,
  uploadCancelled,
  uploadInProgress,
} from './ticket-checks.ts';
import type { FoundTicket } from './upload-tickets.store.ts';

/** The code of the Problem that a check throws; null if it throws none. */
function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

const ticket: FoundTicket = {
  video_id: 'v',
  workspace_id: 'w',
  transfer_id: null,
  used_at: null,
  declared_bytes: null,
  reserved_bytes: 0,
  claim_id: null,
  traceparent: null,
  expires_at: new Date(),
  is_leased: false,
  is_expired: false,
};

const used = { used_at: new Date() };
const leased = { is_leased: true };
const expired = { is_expired: true };

describe('a ticket', () => {
  test.each([
    ['unused', {}, null, null],
    ['leased', leased, null, 'upload_in_progress'],
    ['expired', expired, 'upload_token_expired', 'upload_token_expired'],
    ['expired during its transfer', { ...leased, ...expired }, null, 'upload_in_progress'],
    ['used', used, 'upload_token_used', 'upload_token_used'],
    ['used and expired', { ...used, ...expired }, 'upload_token_used', 'upload_token_used'],
    ['used and leased', { ...used, ...leased }, 'upload_token_used', 'upload_token_used'],
  ])('that is %s', (_, changes, unspent, usable) => {
    const found = { ...ticket, ...changes };
    expect([refusalOf(() => requireUnspent(found)), refusalOf(() => requireUsable(found))]).toEqual([
      unspent,
      usable,
    ]);
    if (unspent === null) expect(requireUnspent(found)).toBe(found);
    if (usable === null) expect(requireUsable(found)).toBe(found);
  });

  test('that does not exist', () => {
    for (const require of [requireUnspent, requireUsable]) {
      expect(refusalOf(() => require(undefined))).toBe('upload_token_invalid');
    }
  });
});

describe('the share of a workspace', () => {
  const limits = { count: 2, bytes: 100 };

  test.each([
    ['for its first upload', { count: 0, bytes: 0 }, 100, true],
    ['for its first upload, of more than the limit', { count: 0, bytes: 0 }, 101, true],
    ['for all bytes of the limit', { count: 1, bytes: 60 }, 40, true],
    ['for more bytes', { count: 1, bytes: 60 }, 41, false],
    ['for more uploads', { count: 2, bytes: 0 }, 1, false],
  ])('is checked %s', (_, inProgress, bytes, hasRoom) => {
    const refusal = refusalOf(() => requireShare(inProgress, bytes, limits));
    expect(refusal).toBe(hasRoom ? null : 'too_many_uploads');
  });

  test('that is used up is available again later', () => {
    expect(() => requireShare({ count: 2, bytes: 0 }, 1, limits)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('2 uploads of 100 bytes in total'),
        options: { headers: { 'Retry-After': '10' } },
      }),
    );
  });
});

test.each([
  ['tokenInvalid', tokenInvalid(), 401, 'upload_token_invalid'],
  ['uploadInProgress', uploadInProgress(), 409, 'upload_in_progress'],
  ['ticketExpired', ticketExpired(), 401, 'upload_token_expired'],
  ['uploadCancelled', uploadCancelled(), 409, 'upload_cancelled'],
  ['fileTooLarge', fileTooLarge(5), 413, 'file_too_large'],
])('%s has its status and code', (_, { status, code }, expectedStatus, expectedCode) => {
  expect([status, code]).toEqual([expectedStatus, expectedCode]);
});

test('a file that is too large has the limit in its problem', () => {
  expect(fileTooLarge(5)).toMatchObject({
    message: 'The file is too large. Send at most 5 bytes.',
    options: { extra: { maxBytes: 5 } },
  });
});
