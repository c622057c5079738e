import { requireLinearTime } from '@framelane/test-kit/growth';
import { describe, expect, test } from '@jest/globals';
import { redact, redactText } from './redact.ts';

describe('redacts by shape', () => {
  test.each([
    ['key svc_live_abcDEF123456 used', 'key svc_live_[redacted] used'],
    ['svc_test_0123456789', 'svc_test_[redacted]'],
    ['token ut_AbCdEfGhIjKlMnOpQrSt', 'token ut_[redacted]'],
    ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'whsec_[redacted]'],
    ['#code=console_code_9r8GKYqrTwjUPD8I', '#code=console_code_[redacted]'],
    ['framelane=console_session_9r8GKYqrTwjUPD8I; a=b', 'framelane=console_session_[redacted]; a=b'],
    ['authorization: Bearer abc.def', 'authorization: Bearer [redacted]'],
    ['postgres://framelane:hunter2@db:5432/x', 'postgres://framelane:[redacted]@db:5432/x'],
    [
      'the problems console_code_invalid and console_session_not_found',
      'the problems console_code_invalid and console_session_not_found',
    ],
    ['eyJ-eyJhbGci.e30', 'eyJ-eyJhbGci.e30'],
    ['sealed eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn!', 'sealed [redacted]!'],
    ['see https://video.example/v1/videos/vid_01', 'see https://video.example/v1/videos/vid_01'],
  ])('%s', (text, clean) => {
    expect(redactText(text)).toBe(clean);
  });
});

test('hostile repetitions are redacted in linear time', async () => {
  const tokens = [
    'a',
    'eyJ-',
    'eyJ-.',
    'ut_',
    'ut_+',
    'whsec_=',
    'console_code_',
    '://',
    '://:',
    ':',
    'Basic ',
    'svc_live_',
    ' ',
  ];
  for (const token of tokens) {
    await requireLinearTime(2 ** 20, (size) => token.repeat(size / token.length), redactText);
  }
});

test('redacts by the name of the field, at any depth, in errors and their causes', () => {
  const cause = Object.assign(new Error('connect postgres://u:pw@db/x'), { code: 'ECONNREFUSED' });
  const clean = redact({
    videoId: 'vid_1',
    bytes: 5,
    uploadToken: 'short',
    nested: [{ headers: { authorization: 'x', 'X-Thing': 'y' } }],
    error: new Error('failed with svc_live_abcdefgh12345', { cause }),
    key: new Uint8Array(16),
    contentKey: 'anything',
    missingToken: null,
  });
  expect(clean).toMatchObject({
    videoId: 'vid_1',
    bytes: 5,
    uploadToken: '[redacted]',
    nested: [{ headers: { authorization: '[redacted]', 'X-Thing': 'y' } }],
    error: {
      name: 'Error',
      message: 'failed with svc_live_[redacted]',
      cause: { message: 'connect postgres://u:[redacted]@db/x', code: 'ECONNREFUSED' },
    },
    key: '[16 bytes]',
    contentKey: '[redacted]',
    missingToken: null,
  });
  expect(JSON.stringify(clean)).not.toMatch(/abcdefgh12345|:pw@/);
});

test.each(['secretAccessKey', 'databasePassword', 'previousContentKeySecrets'])(
  'redacts the field %s of the settings',
  (name) => {
    expect(redact({ [name]: ['anything'] })).toEqual({ [name]: '[redacted]' });
  },
);

test('ends at a depth of six, also in circles', () => {
  const circle: Record<string, unknown> = { n: 1 };
  circle.self = circle;
  const list: unknown[] = [];
  list.push(list);
  const error = new Error('again');
  error.cause = error;
  const levels = (text: string, what: RegExp) => text.match(what)?.length;
  expect(levels(JSON.stringify(redact(circle)), /"n":1/g)).toBe(7);
  expect(levels(JSON.stringify(redact(list)), /\[/g)).toBe(8);
  expect(JSON.stringify(redact(error))).toContain('"cause":"[too deep]"');
});

test('keeps times, and names that only contain the name of a secret', () => {
  const time = new Date('2026-11-21T09:00:00Z');
  const harmless = { time, tokenCount: 5, passwordless: true, myauthorization: 'x', cookies: 2 };
  expect(redact(harmless)).toEqual({ ...harmless, time: '2026-11-21T09:00:00.000Z' });
  expect(redact(new Error('no cause'))).not.toHaveProperty('cause');
});
