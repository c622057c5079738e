import { expect, test } from '@jest/globals';
import { countryOf, deviceOf, refusesCounting } from './viewer-facts.ts';

const ANDROID = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';
const MAC = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15';

test.each([
  ['desktop', `${MAC} (KHTML, like Gecko) Version/18.5 Safari/605.1.15`],
  ['desktop', 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'],
  ['desktop', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0.0.0'],
  ['phone', `${ANDROID} Mobile Safari/537.36`],
  ['phone', 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148 Safari'],
  ['tablet', `${ANDROID} Safari/537.36`],
  ['tablet', 'Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) Mobile/15E148 Safari'],
  ['tv', 'Mozilla/5.0 (SMART-TV; Linux; Tizen 8.0) AppleWebKit/537.36 Chrome/108.0.5359.1 TV Safari'],
  ['tv', 'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 Chrome/108.0 Safari/537.36 WebAppManager'],
  ['tv', 'Mozilla/5.0 (Linux; Android 12; BRAVIA 4K VH2) AppleWebKit/537.36 Chrome/142.0 Safari/537.36'],
  ['other', 'VLC/3.0.21 LibVLC/3.0.21'],
  ['other', ''],
])('%s: %s', (device, userAgent) => {
  expect(deviceOf({ 'user-agent': userAgent })).toBe(device);
});

test('the client hint says that a browser on a phone asks for desktop pages', () => {
  const desktop = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/142.0.0.0';
  expect(deviceOf({ 'user-agent': desktop, 'sec-ch-ua-mobile': '?1' })).toBe('phone');
  expect(deviceOf({ 'user-agent': desktop, 'sec-ch-ua-mobile': '?0' })).toBe('desktop');
});

test('without a User-Agent the device is unknown', () => {
  expect(deviceOf({})).toBe('other');
});

test.each([
  [{ 'sec-gpc': '1' }, true],
  [{ dnt: '1' }, true],
  [{ 'sec-gpc': '0', dnt: '0' }, false],
  [{}, false],
])('%p refuses: %p', (headers, refused) => {
  expect(refusesCounting(headers)).toBe(refused);
});

test('only the configured header names a country', () => {
  expect(countryOf({ 'cf-ipcountry': 'de' }, 'cf-ipcountry')).toBe('DE');
  expect(countryOf({ 'cf-ipcountry': 'DE' }, undefined)).toBeNull();
  expect(countryOf({}, 'cf-ipcountry')).toBeNull();
});

test.each(['XX', 'T1', 'DEU', '', 'D'])('%p is no country', (code) => {
  expect(countryOf({ 'cf-ipcountry': code }, 'cf-ipcountry')).toBeNull();
});
