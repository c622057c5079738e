import { manifestSchema } from '@framelane/contracts/manifest';
import { JSON_WORDS } from '../json-words.ts';
import { expectSame, refusedWith } from '../promises.ts';
import type { Target } from '../target.ts';

const SOURCE = {
  container: 'mp4',
  videoCodec: 'h264',
  audioCodec: null,
  width: 2,
  height: 2,
  frameRate: 1,
  duration: 1,
};
const RENDITION = {
  name: '720p',
  codecs: 'avc1.64001f',
  width: 2,
  height: 2,
  frameRate: 1,
  videoRange: 'PQ',
  channels: null,
  language: null,
  label: 'A',
  initialization: 'AAAA',
  segments: [{ duration: 1, bytes: 1 }],
};
const MANIFEST = {
  source: SOURCE,
  duration: 1,
  inputIssues: [{ code: 'a', message: 'A.' }],
  renditions: [RENDITION],
  captions: [{ language: null, label: null, webvtt: '' }],
  chapters: [{ start: 0, title: 'A' }],
  startTimestamp: 0,
};

/** What an engine says about a whole video. */
export const target: Target = {
  maxBytes: 2048,
  steps: { fixed: 2_000, perByte: 20 },
  libraries: ['zod'],
  dictionary: [
    ...JSON_WORDS,
    '"renditions":',
    '"segments":',
    '"duration":',
    '"captions":[]',
    '"chapters":[]',
    '"source":{}',
    '"iFrames":',
    '"startTimestamp":',
  ],
  seeds: [JSON.stringify(MANIFEST)],
  run: (input) => {
    const json = refusedWith([SyntaxError], () => JSON.parse(input.toString()) as unknown);
    const { success, data } = manifestSchema.safeParse(json);
    if (success)
      expectSame(
        manifestSchema.parse(JSON.parse(JSON.stringify(data))),
        data,
        'a manifest does not change when it is stored',
      );
  },
};
