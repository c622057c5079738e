import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readSettings, setting } from './settings.ts';

const schema = z.object({
  PORT: setting.port().default(8080),
  PUBLIC_URL: setting.httpUrl(),
  SECRET: setting.secret(),
  KEY: setting.key256().optional(),
  SLOTS: setting.integer(1, 64).default(2),
  TRUST_PROXY: setting.proxies().default([]),
});
const good = { PUBLIC_URL: 'https://video.example/', SECRET: 'x'.repeat(32) };

test('parses values and fills in defaults; an empty variable counts as unset', () => {
  const key = Buffer.alloc(32, 1);
  const env = {
    SLOTS: '8',
    PORT: '',
    KEY: key.toString('base64'),
    TRUST_PROXY: '10.0.0.0/8, fd00::/8,192.0.2.1',
  };
  expect(readSettings(schema, { ...good, ...env })).toEqual({
    PORT: 8080,
    PUBLIC_URL: 'https://video.example',
    SECRET: 'x'.repeat(32),
    KEY: key,
    SLOTS: 8,
    TRUST_PROXY: ['10.0.0.0/8', 'fd00::/8', '192.0.2.1'],
  });
});

test('names every invalid variable and shows no value', () => {
  const read = () => readSettings(schema, { SECRET: 'hunter2', PORT: '80x' });
  expect(read).toThrow(/PORT: must be a port number/);
  expect(read).toThrow(/PUBLIC_URL is not set/);
  expect(read).toThrow(/SECRET: must have at least 32 characters/);
  expect(read).not.toThrow(/hunter2/);
});

describe('rejects', () => {
  test.each([
    ['PORT', '65536'],
    ['PORT', '-1'],
    ['PORT', '1e3'],
    ['SLOTS', '0'],
    ['SLOTS', '65'],
    ['SLOTS', '2.5'],
    ['PUBLIC_URL', 'ftp://video.example'],
    ['PUBLIC_URL', 'video.example'],
    ['KEY', 'c2hvcnQ='],
    ['TRUST_PROXY', '10.0.0.0/8,proxy.example'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', '10/8'],
  ])('%s=%s', (name, value) => {
    expect(() => readSettings(schema, { ...good, [name]: value })).toThrow(new RegExp(`^${name}: must be`));
  });
});

describe('other types', () => {
  const others = z.object({
    BUS: setting.amqpUrl().optional(),
    ROWS: setting.postgresUrl().optional(),
    NAME: setting.text().optional(),
    KEYS: setting.keys256().optional(),
    DAYS: setting.integer(1).optional(),
  });
  const keys = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
  const list = keys.map((each) => each.toString('base64')).join(',');

  test('are read', () => {
    const bus = 'amqps://user:password@bus.example:5671/host';
    expect(readSettings(others, { BUS: bus, NAME: 'any', KEYS: list, DAYS: '1' })).toEqual({
      BUS: bus,
      NAME: 'any',
      KEYS: keys,
      DAYS: 1,
    });
    expect(readSettings(others, { BUS: 'amqp://bus.example' })).toEqual({ BUS: 'amqp://bus.example' });
    for (const rows of ['postgres://a:b%23@db.example/c', 'postgresql:///c?host=/run/postgresql'])
      expect(readSettings(others, { ROWS: rows })).toEqual({ ROWS: rows });
  });

  test.each([
    ['BUS', 'https://bus.example', 'must be an amqp:// or amqps:// address'],
    ['BUS', 'xamqp://bus.example', 'must be an amqp:// or amqps:// address'],
    ['BUS', 'amqpx://bus.example', 'must be an amqp:// or amqps:// address'],
    ['ROWS', 'nonsense', 'must be a postgres:// address'],
    ['ROWS', 'mysql://db.example/c', 'must be a postgres:// address'],
    ['ROWS', 'postgres://a:b#@db.example/c', 'must be a postgres:// address'],
    ['KEYS', `${list},c2hvcnQ=`, 'must be 32 bytes in base64 each, separated by commas'],
    ['DAYS', '0', 'must be a whole number of at least 1'],
  ])('reject %s=%s', (name, value, message) => {
    expect(() => readSettings(others, { [name]: value })).toThrow(`${name}: ${message}`);
  });
});

test('the limits are included, and the message names them', () => {
  const limits = (SLOTS: string) => readSettings(schema, { ...good, SLOTS }).SLOTS;
  expect([limits('1'), limits('64')]).toEqual([1, 64]);
  expect(() => limits('65')).toThrow('SLOTS: must be a whole number of at least 1 and at most 64');
});

test('a public URL has the scheme http or https, and loses its trailing slashes', () => {
  expect(readSettings(schema, { ...good, PUBLIC_URL: 'http://video.example//' }).PUBLIC_URL).toBe(
    'http://video.example',
  );
  for (const PUBLIC_URL of ['xhttp://video.example', 'httpsx://video.example']) {
    expect(() => readSettings(schema, { ...good, PUBLIC_URL })).toThrow('PUBLIC_URL: must be');
  }
});

test('origins are web origins without a path, separated by commas', () => {
  const origins = z.object({ ORIGINS: setting.origins() });
  const list = 'https://www.example.com, http://*.example.org:8000';
  expect(readSettings(origins, { ORIGINS: list })).toEqual({
    ORIGINS: ['https://www.example.com', 'http://*.example.org:8000'],
  });
  for (const wrong of ['*', 'example.com', 'https://a.example/', "https://a.example; script-src 'self'"]) {
    expect(() => readSettings(origins, { ORIGINS: wrong })).toThrow(/ORIGINS: must be origins/);
  }
});
