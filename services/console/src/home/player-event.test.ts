import { expect, test } from '@jest/globals';
import { eventOf } from './player-event.ts';

test('reads the events of the player page', () => {
  expect(eventOf('{"context":"player.js","version":"0.0.11","event":"play"}')).toBe('play');
});

test.each([undefined, {}, '', 'x', 'null', '{"event":"play"}', '{"context":"player.js","event":1}'])(
  '%p is no event',
  (data) => expect(eventOf(data)).toBeUndefined(),
);
