import { expect, test } from '@jest/globals';
import { clientDataOfUrl, readClientData } from './cmcd.ts';

const SESSION = '6e2fb550-c457-11e9-bb97-0800200c9a66';

test.each([
  // The examples of CTA-5004 §6, with a session.
  [`sid="${SESSION}"`, false],
  [`br=3200,bs,d=4004,mtp=25400,ot=v,rtp=15000,sid="${SESSION}",tb=6000`, true],
  [`nor="..%2F300kbps%2Fsegment35.m4v",sid="${SESSION}"`, false],
  [`bs,cid="a,bs=?0",com.example-myNumericKey=500,sid="${SESSION}",st=v`, true],
  // As headers, joined.
  [`sid="${SESSION}",st=v,bs,rtp=15000`, true],
  [`sid="${SESSION}", bs`, true],
  [`bs=?0,sid="${SESSION}"`, false],
  [`bs=?1,sid="${SESSION}"`, true],
  // Players that do not quote.
  [`sid=${SESSION}`, false],
])('%s', (text, starved) => {
  expect(readClientData(text)).toEqual({ session: SESSION, starved });
});

test.each([
  '',
  'bs',
  'sid',
  'sid=',
  'sid=""',
  'sid="open',
  `sid="${'x'.repeat(65)}"`,
  '=,sid="a"',
  `${'a=1,'.repeat(600)}sid="a"`,
])('no session: %s', (text) => {
  expect(readClientData(text)).toBeUndefined();
});

test('what follows something malformed is not read', () => {
  expect(readClientData('sid="a",=,bs')).toEqual({ session: 'a', starved: false });
  expect(readClientData('nor="a\\",sid=\\"b",sid="c"')).toEqual({ session: 'c', starved: false });
});

test.each([
  ['/a.ts?CMCD=sid%3D%22x%22%2Cbs', 'sid="x",bs'],
  ['/a.ts?token=t&CMCD=sid%3D%22x+y%22&other=o', 'sid="x y"'],
  ['/a.ts?CMCD=', ''],
  ['/a.ts?CMCD=a#CMCD=b', 'a'],
  ['/a.ts?CMCD=a&CMCD=b', undefined],
  ['/a.ts?OTHERCMCD=a', undefined],
  ['/a.ts?CMCD=%E0%A4%A', undefined],
  ['/a.ts', undefined],
])('the client data of %p is %p', (url, data) => {
  expect(clientDataOfUrl(url)).toBe(data);
});
