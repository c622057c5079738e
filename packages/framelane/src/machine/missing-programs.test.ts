import { expect, test } from '@jest/globals';
import { messageForMissing } from './missing-programs.js';

const MISSING = {
  programs: ['ffmpeg', 'ffprobe', 'rabbitmq-server'],
  needed: ['ffmpeg', 'rabbitmq-server'],
  optional: ['nginx-light', 'vlc-bin vlc-plugin-base'],
};
const PROGRAMS = 'These programs are missing: ffmpeg, ffprobe, rabbitmq-server.';

test('on Debian, a command installs the required packages, and another one the optional packages', () => {
  const message = messageForMissing({ ...MISSING, distribution: 'debian' });
  expect(message.split('\n')).toEqual([
    `${PROGRAMS} Install them with this command, then start again:`,
    '',
    '  sudo apt-get update && sudo apt-get install -y ffmpeg rabbitmq-server',
    '',
    'Optional:',
    '',
    '  sudo apt-get install -y nginx-light vlc-bin vlc-plugin-base',
  ]);
  expect(messageForMissing({ ...MISSING, optional: [], distribution: 'debian' })).not.toContain('Optional');
});

test.each([
  ['fedora', 'sudo dnf install -y ffmpeg rabbitmq-server', 'RPM Fusion'],
  ['rhel', 'sudo dnf install -y ffmpeg rabbitmq-server', 'RPM Fusion'],
  ['arch', 'sudo pacman -S --needed ffmpeg rabbitmq', null],
  ['suse', 'sudo zypper install -y ffmpeg rabbitmq-server', 'Packman'],
])('on %s, a command installs the required packages', (distribution, command, repository) => {
  const before = repository ? `First add the repository ${repository}, which has ffmpeg with libx264. ` : '';
  expect(messageForMissing({ ...MISSING, distribution })).toBe(
    `${PROGRAMS} ${before}Install them with this command, then start again:\n\n  ${command}`,
  );
});

test('on an unknown system, the message names the programs', () => {
  expect(messageForMissing({ ...MISSING, distribution: undefined })).toBe(
    `${PROGRAMS} Install them, then start again.`,
  );
});
