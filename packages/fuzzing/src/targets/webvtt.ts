import { CAPTIONS, readAndWrite } from '../captions-promises.ts';
import type { Target } from '../target.ts';

export const target: Target = {
  ...CAPTIONS,
  seeds: [
    'WEBVTT\n\nid\n00:01.000 --> 00:02.000 line:0\n<v A>B</v>\n\nNOTE c\n\n1:00:00.5 --> 1:00:01.000\n<i>C &amp; D',
  ],
  run: (input) => readAndWrite(input, 'webvtt'),
};
