import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import type { Report } from '@framelane/hls-conformance';
import { isVideo, type Presentation } from '@framelane/hls-conformance/presentation';
import { timelineOf } from '@framelane/hls-conformance/timeline';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClipPlan, makeMp4 } from '../src/clips.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { checkRules } from '../src/hls-rules.ts';
import { readTarget } from '../src/target.ts';

/** Intended deviations from the authoring specification; see docs/hls.md. */
const DEVIATIONS = ['master.cellular-variant', 'master.several-variants'];
const RULES_FOR_AUDIO = [
  ...['master.language', 'master.channels', 'master.audio-attributes'],
  ...['alignment.audio-segments', 'alignment.audio-start'],
];

/** Not applicable: these clips have no captions. captions.test.ts checks a stream that has. */
const RULES_FOR_CAPTIONS = ['webvtt', 'start', 'segments', 'cues', 'clear'].map((name) => `captions.${name}`);

/** Nor chapters; see chapters.test.ts. */
const RULES_FOR_CHAPTERS = ['tag', 'json', 'chapters'].map((name) => `session-data.${name}`);

/** Not applicable to transport streams. */
const RULES_FOR_FRAGMENTS = ['segments.fragments', 'segments.initialization'];

/** Not applicable to H.264 alone; see codecs.test.ts. */
const RULES_FOR_CODECS = ['container', 'messages', 'parameter-sets', 'score', 'sdr', 'sequence-header'].map(
  (name) => `codecs.${name}`,
);

/** Clips, their expected renditions, and the rules that the checker cannot apply to them. */
const CASES: (ClipPlan & {
  renditions: { variant: string; size: string; frameRate: string }[];
  skippedRules: string[];
})[] = [
  {
    name: 'landscape',
    width: 854,
    height: 480,
    rate: '25',
    // Long enough for compressed playlists.
    seconds: 26,
    audio: { sampleRate: 48_000, channels: 2 },
    noise: { from: 7, to: 9 },
    renditions: [
      { variant: '360p', size: '640x360', frameRate: '25.000' },
      { variant: '480p', size: '854x480', frameRate: '25.000' },
    ],
    skippedRules: [],
  },
  {
    name: 'portrait',
    width: 480,
    height: 854,
    rate: '30000/1001',
    seconds: 7,
    audio: { sampleRate: 44_100, channels: 1 },
    renditions: [
      { variant: '360p', size: '360x640', frameRate: '29.970' },
      { variant: '480p', size: '480x854', frameRate: '29.970' },
    ],
    skippedRules: [],
  },
  {
    // Below the lowest rung. The rendition has the name of that rung and the size of the clip.
    name: 'small and silent',
    width: 480,
    height: 270,
    rate: '50',
    seconds: 13,
    audio: null,
    renditions: [{ variant: '360p', size: '480x270', frameRate: '50.000' }],
    skippedRules: [
      ...RULES_FOR_AUDIO,
      ...['master.default-variant', 'media.same-target-duration', 'alignment.video-start'],
      ...['alignment.video-segments', 'alignment.end'],
    ],
  },
];

type Checked = { video: ReadyVideo; report: Report; presentation: Presentation };

const target = readTarget(process.env);
const client = new FramelaneClient(target);
const checked = new Map<string, Checked>();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-hls-rules-'));
  await Promise.all(
    CASES.map(async (plan) => {
      const video = await client.publish(await makeMp4(directory, plan));
      checked.set(plan.name, { video, ...(await checkRules(video, target)) });
    }),
  );
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

describe.each(CASES)('a $name clip', ({ name, audio, renditions, skippedRules }) => {
  let video: ReadyVideo;
  let report: Report;
  let presentation: Presentation;

  beforeAll(() => {
    const found = checked.get(name);
    if (found === undefined) throw new Error(`The stream of the ${name} clip was not checked`);
    ({ video, report, presentation } = found);
  });

  test('follows all rules (MUST)', () => {
    const notPassed = report.results.filter(
      ({ outcome, level }) => outcome !== 'passed' && level !== 'should',
    );
    const needStorage = target.objectsDir === null ? ['service.stored-segments'] : [];
    const expected = [
      ...DEVIATIONS,
      ...RULES_FOR_CAPTIONS,
      ...RULES_FOR_CHAPTERS,
      ...RULES_FOR_FRAGMENTS,
      ...RULES_FOR_CODECS,
      ...skippedRules,
      ...needStorage,
    ];
    const recommendations = ['master.default-variant', 'alignment.audio-segments'];
    expect(notPassed.map(({ id }) => id).sort()).toEqual(
      expected.filter((id) => !recommendations.includes(id)).sort(),
    );
    expect(presentation.notes).toEqual([]);
  });

  test('follows all recommendations (SHOULD), except for peaks, which depend on the clip', () => {
    const failed = report.results.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
    expect(failed.filter((id) => id !== 'master.peak-to-average')).toEqual([]);
  });

  test('has the renditions for its size', () => {
    const offered = presentation.master?.variants.map(({ uri, attributes }) => ({
      variant: uri.split('/')[0],
      size: attributes.get('RESOLUTION')?.text,
      frameRate: attributes.get('FRAME-RATE')?.text,
    }));
    expect(offered).toHaveLength(renditions.length);
    expect(offered).toEqual(expect.arrayContaining(renditions));
    expect(video.variants).toEqual(renditions.map(({ variant }) => variant));
  });

  test('has one audio rendition in mono or stereo, or none without audio', () => {
    const audioRenditions = presentation.renditions.filter((rendition) => !isVideo(rendition));
    const channels = audioRenditions.map(({ segments: [first] }) => first?.content?.audio?.config.channels);
    expect(channels).toEqual(audio ? [Math.min(2, audio.channels)] : []);
  });

  test('has the duration in its metadata', () => {
    const first = presentation.renditions.find(isVideo);
    const times = first && timelineOf(first, presentation);
    if (!times || 'reason' in times) throw new Error(times?.reason ?? 'There is no video');
    expect(times.end - (times.starts[0] ?? Number.NaN)).toBeCloseTo(video.duration ?? Number.NaN, 2);
  });
});

test('no two videos share a content key', () => {
  const keys = [...checked.values()].flatMap(({ presentation }) =>
    presentation.keys.map(({ sha256 }) => sha256),
  );
  expect(keys).toHaveLength(CASES.length);
  expect(new Set(keys).size).toBe(CASES.length);
});
