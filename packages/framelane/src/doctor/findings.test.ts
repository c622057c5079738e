import { describe, expect, test } from '@jest/globals';
import { addressFindings } from './address-findings.ts';
import { dataDirFinding } from './data-dir-finding.ts';
import { backupFinding, clockFinding } from './database-findings.ts';
import { diskFinding, memoryFinding, programsFinding } from './machine-findings.ts';
import { mediaFindings } from './media-findings.ts';
import { checklist } from './report.ts';
import { unknownSettings } from './unknown-settings.ts';

const GIB = 1024 ** 3;
const DAY = 86_400;

test.each([
  [2 * GIB, 'passed'],
  [2 * GIB - 1, 'warning'],
])('memory of %i bytes: %s', (bytes, status) => {
  expect(memoryFinding(bytes).status).toBe(status);
});

test.each([
  [10 * GIB, 'passed', '10.0 GiB'],
  [10 * GIB - 1, 'warning', '10.0 GiB'],
  [1, 'warning', '0.0 GiB'],
  [0, 'failed', 'uploads are refused'],
  [-GIB, 'failed', '0.0 GiB'],
])('%i bytes beyond the reserve of the disk: %s', (bytes, status, detail) => {
  expect(diskFinding('/data', bytes)).toMatchObject({ status, detail: expect.stringContaining(detail) });
});

test('missing programs fail, with the command that installs them', () => {
  const missing = { programs: ['ffmpeg'], needed: ['ffmpeg'], optional: [], distribution: 'fedora' };
  expect(programsFinding(missing)).toMatchObject({
    status: 'failed',
    detail: expect.stringContaining('sudo dnf install -y ffmpeg'),
  });
  expect(programsFinding({ ...missing, programs: [], needed: [] }).status).toBe('passed');
});

describe('the data directory', () => {
  const owned = { uid: 1000, mode: 0o100600 };
  const facts = {
    path: '/data',
    uid: 1000,
    root: owned,
    refusal: undefined,
    secrets: { '/data/secrets.json': owned },
  };

  test.each([
    ['is in order', {}, 'passed', '/data'],
    ['does not exist', { root: undefined, secrets: {} }, 'passed', 'the first start creates it'],
    [
      'does not exist, below a directory of others',
      { root: undefined, refusal: 'EACCES', secrets: {} },
      'failed',
      '/data cannot be created (EACCES)',
    ],
    ['on a read-only disk', { refusal: 'EROFS' }, 'failed', '/data cannot be written (EROFS)'],
    ['of another user, for root', { uid: 0 }, 'passed', '/data'],
    ['of another user', { uid: 7 }, 'failed', 'belongs to the user 1000, and this is the user 7'],
    [
      'whose secrets the group can read',
      { secrets: { '/data/secrets.json': { uid: 1000, mode: 0o100640 } } },
      'warning',
      'other users can read /data/secrets.json',
    ],
  ])('%s', (_what, changes, status, detail) => {
    expect(dataDirFinding({ ...facts, ...changes })).toMatchObject({
      status,
      detail: expect.stringContaining(detail),
    });
  });
});

test.each([
  ['127.0.0.1', 'http://localhost:8080', 'passed'],
  // A proxy with TLS in front of it.
  ['127.0.0.1', 'https://video.example.com', 'passed'],
  ['0.0.0.0', 'https://video.example.com', 'passed'],
  ['0.0.0.0', 'http://localhost:8080', 'warning'],
  ['::', 'http://[::1]:8080', 'warning'],
  ['0.0.0.0', 'http://192.0.2.7:8080', 'warning'],
  ['127.0.0.1', 'http://video.example.com', 'warning'],
])('HOST=%s and the public address %s: %s', (host, url, status) => {
  const findings = addressFindings({ host, publicUrl: url, enginePublicUrl: url });
  expect(findings.map((each) => each.status)).toEqual([status, status]);
});

test.each([
  [4.9, 'passed', 'agrees'],
  [5.1, 'warning', '5.1 s ahead of that of the database'],
  [-60, 'warning', '60.0 s behind that of the database'],
])('a clock %d seconds ahead: %s', (seconds, status, detail) => {
  expect(clockFinding(seconds)).toMatchObject({ status, detail: expect.stringContaining(detail) });
});

test.each([
  [undefined, 'warning', 'there is none'],
  [{ ageSeconds: DAY - 1, missing: 0 }, 'passed', 'of today'],
  [{ ageSeconds: DAY, missing: 0 }, 'passed', '1 day ago'],
  [{ ageSeconds: 7 * DAY - 1, missing: 0 }, 'passed', '6 days ago'],
  [{ ageSeconds: 7 * DAY, missing: 0 }, 'warning', '7 days ago'],
  [{ ageSeconds: 0, missing: 2 }, 'warning', 'lacks 2 objects'],
])('the last backup %j: %s', (last, status, detail) => {
  expect(backupFinding(last, 'framelane admin')).toMatchObject({
    status,
    detail: expect.stringContaining(detail),
  });
});

describe('settings', () => {
  const KNOWN = ['ENGINE_SLOTS', 'ENGINE_SANDBOX', 'S3_BUCKET', 'PORT', 'DATA_DIR'];

  test.each([
    ['ENGINE_SLOT', 'ENGINE_SLOTS'],
    ['S3_BUKET', 'S3_BUCKET'],
    ['DATADIR_', undefined],
    ['IS_SANDBOX', undefined],
    ['SORT', undefined],
    ['npm_config_port', undefined],
    ['ENGINE_SLOTS', undefined],
  ])('%s is reported as %s', (name, nearest) => {
    const [finding] = unknownSettings({ [name]: '1' }, KNOWN);
    if (nearest === undefined) expect(finding?.status).toBe('passed');
    else expect(finding).toMatchObject({ status: 'warning', advice: expect.stringContaining(`${nearest}?`) });
  });

  test('values are not shown', () => {
    expect(JSON.stringify(unknownSettings({ S3_BUKET: 'secret' }, KNOWN))).not.toContain('secret');
  });
});

describe('ffmpeg and its sandbox', () => {
  const found = { 'sandbox.chosen': { sandbox: 'landlock' }, 'ffmpeg.found': { version: '8.1.3' } };
  const statusOf = (events: Record<string, Record<string, unknown>>, error?: Error) =>
    mediaFindings(new Map(Object.entries(events)), error).map(({ title, status }) => `${title} ${status}`);

  test.each([
    ['all is well', found, undefined, ['Sandbox passed', 'ffmpeg passed', 'Encoders passed']],
    [
      'no sandbox was wanted',
      { 'sandbox.none': { advice: 'Install bubblewrap.' }, 'ffmpeg.found': { version: '8.1.3' } },
      undefined,
      ['Sandbox warning', 'ffmpeg passed', 'Encoders passed'],
    ],
    [
      'ffmpeg is old and lacks encoders',
      {
        ...found,
        'ffmpeg.outdated': { advice: '' },
        'ffmpeg.lacks_encoders': { encoders: ['libx265'], advice: '' },
      },
      undefined,
      ['Sandbox passed', 'ffmpeg warning', 'Encoders warning'],
    ],
    ['no sandbox works', {}, new Error('ffmpeg cannot be confined'), ['Sandbox failed']],
    [
      'ffmpeg lacks a filter',
      { 'sandbox.chosen': { sandbox: 'landlock' } },
      new Error('This ffmpeg lacks zscale'),
      ['Sandbox passed', 'ffmpeg failed'],
    ],
  ])('%s', (_what, events, error, expected) => {
    expect(statusOf(events, error)).toEqual(expected);
  });
});

describe('the checklist', () => {
  const finding = { title: 'Disk', status: 'passed', detail: '20 GiB' } as const;

  test('shows each finding with what to do, and counts failures before warnings', () => {
    const warned = { ...finding, status: 'warning', advice: 'Delete files.\nOr buy a disk.' } as const;
    expect(checklist([finding, warned])).toBe(
      '✓ Disk: 20 GiB\n! Disk: 20 GiB\n    Delete files.\n    Or buy a disk.\n\nFramelane works on this machine, with 1 warning.\n',
    );
    expect(checklist([warned, { ...finding, status: 'failed' }])).toMatch(
      /✗ Disk: 20 GiB\n\n1 of 2 checks failed\.\n$/,
    );
    expect(checklist([finding])).toContain('Everything is in order.');
  });

  test('texts of other systems cannot move the cursor', () => {
    expect(checklist([{ ...finding, detail: 'a\u001b[2Jb' }])).toContain('a\\u001b[2Jb');
  });
});
