import type { Schemas } from '@framelane/client';
import { expect, test } from '@jest/globals';
import {
  backlogWords,
  backupState,
  backupWords,
  engineState,
  hardwareWords,
  healthState,
  loadWords,
  roleWords,
  timeWords,
  warningsOf,
} from './system-words.ts';

const ENGINE: Schemas['SystemEngine'] = {
  id: 'eng_1',
  host: 'a',
  port: 8091,
  status: 'working',
  roles: ['upload', 'transcode'],
  version: '0.1.0',
  nodeVersion: '24.21.0',
  ffmpegVersion: '7.1.5',
  hardware: null,
  slots: 2,
  slotsBusy: 1,
  tasks: 3,
  uploads: 1,
  imports: 0,
  diskFreeBytes: 5e9,
  startedAt: '2026-11-21T09:41:00.000Z',
  lastSeenAt: '2026-11-21T09:41:00.000Z',
};
const SYSTEM = {
  engines: [ENGINE],
  versions: { framelane: '0.1.0', node: '', postgresql: null, schema: null },
  deadLetters: { commands: 0, events: 0 },
  backups: { last: null },
} as unknown as Schemas['System'];

test('names the health of a system', () => {
  expect(healthState({ kind: 's3', status: 'healthy', latencyMs: 3 })).toEqual({
    words: 'Healthy, 3 ms',
    colour: 'teal',
  });
  expect(healthState({ kind: 's3', status: 'slow', latencyMs: 1200 })).toEqual({
    words: 'Slow, 1200 ms',
    colour: 'yellow',
  });
  expect(healthState({ kind: 's3', status: 'unavailable', latencyMs: null })).toEqual({
    words: 'Unavailable',
    colour: 'red',
  });
});

test('names the state and the work of an engine', () => {
  expect((['working', 'stopping', 'lost'] as const).map((status) => engineState({ status }).colour)).toEqual([
    'teal',
    'yellow',
    'red',
  ]);
  expect(roleWords(ENGINE)).toBe('Uploads and transcodes');
  expect(loadWords(ENGINE)).toEqual(['1 of 2 slots busy', '3 tasks of long videos', '1 upload', '0 imports']);
  expect(loadWords({ ...ENGINE, roles: ['transcode'] })).toEqual([
    '1 of 2 slots busy',
    '3 tasks of long videos',
  ]);
});

test('names the device of an engine, and why it is refused', () => {
  expect(hardwareWords(ENGINE)).toEqual([]);
  expect(hardwareWords({ hardware: { kind: 'qsv', refusal: null } })).toEqual([
    'Video is encoded by Quick Sync Video.',
  ]);
  expect(hardwareWords({ hardware: { kind: 'nvenc', refusal: 'It is missing.' } })).toEqual([
    'Video is encoded by software, because the device with NVENC is refused: It is missing.',
  ]);
});

test('warns about what cannot work', () => {
  expect(warningsOf(SYSTEM)).toEqual([]);
  const warnings = (changes: Partial<Schemas['System']>) =>
    warningsOf({ ...SYSTEM, ...changes }).map((each) => each.slice(0, 20));
  expect(warnings({ engines: null, deadLetters: null })).toEqual([]);
  expect(warnings({ engines: [{ ...ENGINE, status: 'lost' }] })).toEqual([
    'No engine accepts up',
    'No engine transcodes',
  ]);
  expect(warnings({ engines: [{ ...ENGINE, roles: ['upload'] }] })).toEqual(['No engine transcodes']);
  expect(warnings({ engines: [{ ...ENGINE, version: '0.0.9' }] })).toEqual(['Not all engines have']);
  expect(warnings({ deadLetters: { commands: 0, events: 1 } })).toEqual(['Some messages could ']);
});

const BACKUP: Schemas['SystemBackup'] = {
  id: '20261121T020000123Z-0a1b2c3d4e5f6071',
  snapshotAt: '2026-11-21T02:00:00.140Z',
  ageSeconds: 3 * 3600,
  completedAt: '2026-11-21T02:11:42.318Z',
  objects: 184_223,
  bytes: 912.7e9,
  missing: 0,
};

test('says how old and how large the last backup is, or that one should be made', () => {
  expect(backupState(BACKUP)).toEqual({ words: 'Complete', colour: 'teal' });
  expect(backupWords(BACKUP)).toEqual(['The data of 3 h ago', '184223 objects, 913 GB']);
  expect(backupState({ ...BACKUP, ageSeconds: 172_799 }).words).toBe('Complete');
  expect(backupState({ ...BACKUP, ageSeconds: 172_800 }).words).toBe('Too old');
  expect(backupState({ ...BACKUP, missing: 1 }).words).toBe('Incomplete');
  expect(backupState(null).words).toBe('None yet');
  expect(backupWords(null)).toEqual(['Make one each day with the admin command.']);
  const warnings = (last: Schemas['SystemBackup']) => warningsOf({ ...SYSTEM, backups: { last } });
  expect(warnings(BACKUP)).toEqual([]);
  expect(warnings({ ...BACKUP, ageSeconds: 172_800, missing: 2 })).toEqual([
    expect.stringContaining('older than two days'),
    expect.stringContaining('lacks 2 objects'),
  ]);
  expect(warningsOf({ ...SYSTEM, backups: null })).toEqual([]);
});

test('says how many things wait and for how long', () => {
  expect(backlogWords({ count: 0, oldestSeconds: 0 })).toBe('none');
  expect(backlogWords({ count: 3, oldestSeconds: 41.9 })).toBe('3, the oldest for 41 s');
  expect([59, 60, 3599, 3600, 172_799, 172_800].map(timeWords)).toEqual([
    '59 s',
    '1 min',
    '59 min',
    '1 h',
    '47 h',
    '2 days',
  ]);
});
