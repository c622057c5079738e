import { expect, test } from '@jest/globals';
import { Command } from 'commander';
import { type FieldOptions, fieldOptions, ticketFields } from './ticket-fields.ts';

function fieldsOf(...args: string[]) {
  const command = fieldOptions(new Command().argument('[file...]'))
    .exitOverride()
    .configureOutput({ writeErr: () => {} });
  command.parse(args, { from: 'user' });
  return ticketFields(command.opts<FieldOptions>());
}

test('options are fields of the ticket, and leave out what is not given', () => {
  expect(fieldsOf()).toEqual({});
  expect(
    fieldsOf(
      ...[
        '--title',
        'A',
        '--tag',
        'x',
        '--tag',
        'y,z',
        '--metadata',
        'a=1',
        '--metadata',
        'b=2=3',
        '--passthrough',
        'p',
      ],
      ...[
        '--playback-policy',
        'signed',
        '--packaging',
        'cmaf',
        '--codecs',
        'h264, av1',
        '--download',
        'highest,audio',
      ],
      ...['--auto-captions', 'en,de', '--audio-only'],
    ),
  ).toEqual({
    title: 'A',
    tags: ['x', 'y,z'],
    metadata: { a: '1', b: '2=3' },
    passthrough: 'p',
    playbackPolicy: 'signed',
    packaging: 'cmaf',
    codecs: ['h264', 'av1'],
    downloads: ['highest', 'audio'],
    autoCaptions: ['en', 'de'],
    audioOnly: true,
  });
});

test('an option takes no file as its value', () => {
  expect(fieldsOf('--tag', 'x', 'a.mp4', 'b.mp4')).toEqual({ tags: ['x'] });
});

test('the spoken language is true in a ticket', () => {
  expect(fieldsOf('--auto-captions', 'spoken')).toEqual({ autoCaptions: true });
});

test('--fields has further fields; options win', () => {
  expect(fieldsOf('--fields', '{"title":"B","keepSource":"never"}', '--title', 'A')).toEqual({
    title: 'A',
    keepSource: 'never',
  });
});

test.each([
  ['--fields', 'no'],
  ['--fields', '[]'],
  ['--fields', 'null'],
  ['--metadata', 'no'],
  ['--metadata', '=1'],
])('refuses %s %s', (...args) => {
  expect(() => fieldsOf(...args)).toThrow(/Use /);
});
