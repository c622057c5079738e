import { expect, test } from '@jest/globals';
import { isPatched, parseVersion } from './version.ts';

test.each([
  ['ffmpeg version 5.1.9-0+deb12u1 Copyright (c) 2000-2026', '5.1.9'],
  ['ffmpeg version n8.0 Copyright (c)', '8.0'],
  ['ffmpeg version 10.12.13', '10.12.13'],
  ['Built for ffmpeg version 8.0', null],
  ['ffmpeg version N-112345-gabcdef Copyright (c)', null],
])('%s has version %s', (banner, version) => {
  expect(parseVersion(banner)).toBe(version);
});

test.each([
  ['5.1.9', false],
  ['7.1.4', false],
  ['7.1.5', true],
  ['7.2.9', false],
  ['7.9.0', false],
  ['8.0', false],
  ['8.0.3', true],
  ['8.1.2', false],
  ['8.1.3', true],
  ['8.0.10', true],
  ['8.2', true],
  ['9.0', true],
])('%s has the security fixes: %s', (version, patched) => {
  expect(isPatched(version)).toBe(patched);
});
