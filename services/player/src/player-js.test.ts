import { beforeEach, expect, test } from '@jest/globals';
import { type ControlledMedia, PlayerJs } from './player-js.ts';

const ORIGIN = 'https://site.example';
const SRC = 'https://video.example/page?token=a';

function newMedia(): ControlledMedia & EventTarget {
  const element = Object.assign(new EventTarget(), {
    paused: true,
    muted: false,
    volume: 0.5,
    duration: 20,
    currentTime: 4,
    loop: false,
    buffered: { length: 1, start: () => 0, end: () => 8 },
    play: async () => void Object.assign(element, { paused: false }),
    pause: () => void Object.assign(element, { paused: true }),
  });
  return element;
}

let media: ControlledMedia & EventTarget;
let sent: { message: Record<string, unknown>; origin: string }[];
let player: PlayerJs;
beforeEach(() => {
  sent = [];
  media = newMedia();
  player = new PlayerJs(media, SRC, (text, origin) => sent.push({ message: JSON.parse(text), origin }));
});

const send = (method: string, more: object = {}, origin = ORIGIN) =>
  player.receive(JSON.stringify({ context: 'player.js', version: '0.0.11', method, ...more }), origin);
const dispatch = (event: string) => media.dispatchEvent(new Event(event));
const messages = () => sent.map(({ message }) => message);

test.each([
  ['the metadata', () => dispatch('loadedmetadata')],
  ['the browser loads nothing before the viewer plays', () => dispatch('suspend')],
  ['the video cannot be played', () => player.failed('This link has expired.')],
])('announces itself to every origin once: %s', (_, act) => {
  expect(sent).toEqual([]);
  act();
  dispatch('loadedmetadata');
  expect(sent).toEqual([
    {
      origin: '*',
      message: {
        context: 'player.js',
        version: '0.0.11',
        event: 'ready',
        value: {
          src: SRC,
          events: ['ready', 'play', 'pause', 'ended', 'timeupdate', 'progress', 'error'],
          methods: expect.arrayContaining(['play', 'getDuration', 'addEventListener', 'removeEventListener']),
        },
      },
    },
  ]);
});

test('a listener that comes late learns at once that the player is ready, or cannot play', () => {
  player.failed('This link has expired.');
  send('addEventListener', { value: 'ready', listener: 'a' });
  send('addEventListener', { value: 'error', listener: 'b' });
  dispatch('playing');
  send('addEventListener', { value: 'error', listener: 'c' });
  expect(messages().slice(1)).toMatchObject([
    { event: 'ready', listener: 'a' },
    { event: 'error', value: { code: -1 }, listener: 'b' },
  ]);
});

test('a seek before the metadata happens once the duration is known', () => {
  Object.assign(media, { duration: Number.NaN, currentTime: 0 });
  send('setCurrentTime', { value: 12 });
  Object.assign(media, { duration: 20 });
  dispatch('loadedmetadata');
  expect(media.currentTime).toBe(12);
});

test.each([
  ['getPaused', true],
  ['getMuted', false],
  ['getVolume', 50],
  ['getDuration', 20],
  ['getCurrentTime', 4],
  ['getLoop', false],
])('%s returns %s to the origin that asked', (method, value) => {
  send(method, { listener: 'b' });
  expect(sent).toEqual([
    {
      origin: ORIGIN,
      message: { context: 'player.js', version: '0.0.11', event: method, value, listener: 'b' },
    },
  ]);
});

test.each<[string, unknown, Partial<ControlledMedia>]>([
  ['play', undefined, { paused: false }],
  ['mute', undefined, { muted: true }],
  ['setVolume', 80, { volume: 0.8 }],
  ['setVolume', 900, { volume: 1 }],
  ['setCurrentTime', 12, { currentTime: 12 }],
  ['setCurrentTime', 'soon', { currentTime: 0 }],
  ['setCurrentTime', 99, { currentTime: 20 }],
  ['setLoop', true, { loop: true }],
])('%s %s', (method, value, expected) => {
  send(method, { value });
  expect(media).toMatchObject(expected);
  expect(sent).toEqual([]);
});

test('times count from the first frame, also if the media element shows it later than at zero', () => {
  Object.assign(media, { firstFrameTime: 0.5 });
  send('getCurrentTime', { listener: 'a' });
  send('addEventListener', { value: 'timeupdate', listener: 'a' });
  dispatch('timeupdate');
  expect(messages()).toMatchObject([{ value: 3.5 }, { value: { seconds: 3.5, duration: 20 } }]);
  send('setCurrentTime', { value: 7 });
  expect(media.currentTime).toBe(7.5);
  send('setCurrentTime', { value: 20 });
  expect(media.currentTime).toBe(20);
  Object.assign(media, { currentTime: 0.2 });
  send('getCurrentTime', { listener: 'a' });
  expect(messages().at(-1)).toMatchObject({ value: 0 });
});

test('sends events only to listeners, until they are removed', () => {
  dispatch('play');
  send('addEventListener', { value: 'timeupdate', listener: 'a' });
  send('addEventListener', { value: 'progress', listener: 'b' }, 'https://other.example');
  dispatch('timeupdate');
  dispatch('progress');
  send('removeEventListener', { value: 'timeupdate', listener: 'a' });
  dispatch('timeupdate');
  expect(sent).toMatchObject([
    { origin: ORIGIN, message: { event: 'timeupdate', value: { seconds: 4, duration: 20 }, listener: 'a' } },
    { origin: 'https://other.example', message: { event: 'progress', value: { seconds: 8, duration: 20 } } },
  ]);
});

test('listeners stay when another media element replaces the first one', () => {
  dispatch('loadedmetadata');
  send('addEventListener', { value: 'timeupdate', listener: 'a' });
  const next = Object.assign(newMedia(), { currentTime: 6 });
  player.replaceMedia(next);
  dispatch('timeupdate');
  next.dispatchEvent(new Event('loadedmetadata'));
  next.dispatchEvent(new Event('timeupdate'));
  send('mute');
  expect(messages().slice(1)).toMatchObject([
    { event: 'timeupdate', value: { seconds: 6, duration: 20 }, listener: 'a' },
  ]);
  expect([media.muted, next.muted]).toEqual([false, true]);
});

test('a page without an origin gets its messages', () => {
  send('getPaused', { listener: 'a' }, 'null');
  expect(sent).toMatchObject([{ origin: '*', message: { event: 'getPaused', listener: 'a' } }]);
});

test('reports an unknown method, and a video that cannot be played', () => {
  send('addEventListener', { value: 'error' });
  send('constructor');
  player.failed('This link has expired.');
  expect(messages()).toMatchObject([
    { event: 'error', value: { code: 2 } },
    { event: 'ready' },
    { event: 'error', value: { code: -1, msg: 'This link has expired.' } },
  ]);
});

test.each([
  undefined,
  null,
  5,
  'text',
  '{',
  '[]',
  { context: 'other', method: 'play' },
  { context: 'player.js' },
])('ignores %j', (data) => {
  player.receive(data, ORIGIN);
  expect([sent, media.paused]).toEqual([[], true]);
});

test('accepts objects as well as texts', () => {
  player.receive({ context: 'player.js', method: 'mute' }, ORIGIN);
  expect(media.muted).toBe(true);
});
