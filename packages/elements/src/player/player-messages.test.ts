import { expect, test } from '@jest/globals';
import { methodMessage, readMessage } from './player-messages.ts';

test('a method is a text that the conventions of player.js define', () => {
  expect(JSON.parse(methodMessage('play'))).toEqual({
    context: 'player.js',
    version: '0.0.11',
    method: 'play',
  });
  expect(JSON.parse(methodMessage('setCurrentTime', 5, 'a'))).toMatchObject({ value: 5, listener: 'a' });
});

test('events and responses are read', () => {
  const message = { context: 'player.js', event: 'getVolume', value: 50, listener: 'a' };
  expect(readMessage(JSON.stringify(message))).toEqual({
    type: 'response',
    value: 50,
    listener: 'a',
  });
  const ended = { context: 'player.js', event: 'ended' };
  expect(readMessage(JSON.stringify(ended))).toEqual({ type: 'event', name: 'ended', value: undefined });
  expect(readMessage('{"event":"framelane:tokenExpired"}')).toEqual({ type: 'token-expired' });
});

test.each([
  '',
  '{',
  'null',
  '1',
  '[]',
  '{"event":"play"}',
  '{"context":"player.js","event":1}',
  '{"context":"player.js","event":"click"}',
  {},
  null,
])('%j is ignored', (data) => expect(readMessage(data)).toBeUndefined());
