import { expect, test } from '@jest/globals';
import { adminCommand, publicAdminCommand } from './admin-command.ts';
import { CHECKOUT } from './installation.ts';

test('the administration command has the settings that it shares with the node', () => {
  expect(adminCommand(CHECKOUT, { HOST: '0.0.0.0', DATA_DIR: '' })).toBe('npm run admin --');
  const env = { DATA_DIR: "/srv/Ann's videos", PORT: '8081', PUBLIC_URL: 'https://video.example.com' };
  expect(adminCommand(CHECKOUT, env)).toBe(
    "DATA_DIR='/srv/Ann'\\''s videos' PORT=8081 PUBLIC_URL=https://video.example.com npm run admin --",
  );
});

test('no page shows a path, and nothing shows the password of the database', () => {
  const env = { DATA_DIR: '/srv/videos', PORT: '8081', DATABASE_URL: 'postgres://a:secret@db/framelane' };
  expect(publicAdminCommand(CHECKOUT, env)).toBe('DATA_DIR=… DATABASE_URL=… PORT=8081 npm run admin --');
  expect(adminCommand(CHECKOUT, env)).toBe('DATA_DIR=/srv/videos DATABASE_URL=… PORT=8081 npm run admin --');
});
