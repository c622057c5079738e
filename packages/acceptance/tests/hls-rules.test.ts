import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReadyVideo } from '@framelane/client';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { averageBitRate, peakBitRate } from '../src/bit-rate.ts';
import { type ClipPlan, makeClip } from '../src/clips.ts';
import { aacCodec, avcCodec, leadingUnits, NAL } from '../src/codecs.ts';
import { TICKS } from '../src/ffprobe.ts';
import { FramelaneClient } from '../src/framelane-client.ts';
import { type Presentation, type Rendition, readPresentation } from '../src/hls.ts';
import { type MeasuredRendition, measureRendition } from '../src/measured-rendition.ts';
import { readTarget } from '../src/target.ts';
import { damagedTables, looksLikeTransportStream, type Packet } from '../src/transport-stream.ts';

jest.setTimeout(120_000);

/** What is uploaded, and the rungs that are to come of it, lowest first. */
const CASES: (ClipPlan & { rungs: { variant: string; size: string; frameRate: string }[] })[] = [
  {
    name: 'landscape',
    width: 854,
    height: 480,
    rate: '25',
    seconds: 14,
    audio: { sampleRate: 48_000, channels: 2 },
    noise: { from: 7, to: 9 },
    rungs: [
      { variant: '360p', size: '640x360', frameRate: '25.000' },
      { variant: '480p', size: '854x480', frameRate: '25.000' },
    ],
  },
  {
    name: 'portrait',
    width: 480,
    height: 854,
    rate: '30000/1001',
    seconds: 7,
    audio: { sampleRate: 44_100, channels: 1 },
    rungs: [
      { variant: '360p', size: '360x640', frameRate: '29.970' },
      { variant: '480p', size: '480x854', frameRate: '29.970' },
    ],
  },
  {
    // Below the lowest rung, whose name it gets at its own size.
    name: 'small and silent',
    width: 480,
    height: 270,
    rate: '50',
    seconds: 13,
    audio: null,
    rungs: [{ variant: '360p', size: '480x270', frameRate: '50.000' }],
  },
];

/** How exactly rungs have to be aligned [8.22]. */
const MILLISECOND = TICKS / 1000;
const FIRST_RUNG_RATE = 2_000_000;
const ONCE_ONLY =
  /^#(EXTM3U|EXT-X-(VERSION|TARGETDURATION|MEDIA-SEQUENCE|PLAYLIST-TYPE|INDEPENDENT-SEGMENTS|ENDLIST))\b/;

type Delivered = {
  video: ReadyVideo;
  presentation: Presentation;
  /** In the order of the master playlist. */
  rungs: MeasuredRendition[];
  audio: MeasuredRendition | null;
};

const client = new FramelaneClient(readTarget(process.env));
const delivered = new Map<string, Delivered>();
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'framelane-hls-rules-'));
  await Promise.all(CASES.map(async (plan) => delivered.set(plan.name, await deliver(plan))));
});
afterAll(async () => {
  await client.deleteAll();
  await rm(directory, { recursive: true });
});

async function deliver(plan: ClipPlan): Promise<Delivered> {
  const video = await client.publish(await makeClip(directory, plan));
  const presentation = await readPresentation(video.hls, await mkdtemp(join(directory, 'segments-')));
  const rungs: MeasuredRendition[] = [];
  for (const rung of presentation.rungs) rungs.push(await measureRendition(rung));
  const audio = presentation.audio && (await measureRendition(presentation.audio));
  return { video, presentation, rungs, audio };
}

/** Numbers in brackets are rules of Apple's HLS authoring specification. */
describe.each(CASES)('a $name clip', ({ name, audio: hasAudio, rungs: expected }) => {
  let video: ReadyVideo;
  let presentation: Presentation;
  let rungs: MeasuredRendition[];
  let audio: MeasuredRendition | null;
  /** Rungs and audio, as playlists and taken to pieces. */
  let playlists: Rendition[];
  let renditions: MeasuredRendition[];

  beforeAll(() => {
    const found = delivered.get(name);
    if (found === undefined) throw new Error(`There is nothing delivered of the ${name} clip`);
    ({ video, presentation, rungs, audio } = found);
    playlists = [...presentation.rungs, ...(presentation.audio ? [presentation.audio] : [])];
    renditions = [...rungs, ...(audio ? [audio] : [])];
  });

  describe('as playlists', () => {
    test('is text a strict parser takes, with no tag twice that may stand once', () => {
      for (const { text } of [presentation, ...playlists]) {
        const lines = text.split('\n');
        expect(lines[0]).toBe('#EXTM3U');
        const tags = lines.map((line) => ONCE_ONLY.exec(line)?.[0]).filter((tag) => tag !== undefined);
        expect(tags).toEqual([...new Set(tags)]);
      }
    });

    test('is ended video on demand under one target duration that no segment exceeds [7.5, 7.7, 8.6]', () => {
      for (const { playlist } of playlists) {
        expect(playlist).toMatchObject({ playlistType: 'VOD', endlist: true, mediaSequenceBase: 0 });
        expect(playlist.segments.filter(({ discontinuity }) => discontinuity)).toEqual([]);
        expect(playlist.targetDuration).toBe(playlists[0]?.playlist.targetDuration);
        expect(playlist.targetDuration).toBeLessThanOrEqual(6);
        for (const { duration } of playlist.segments) {
          expect(Math.round(duration)).toBeLessThanOrEqual(playlist.targetDuration);
        }
      }
    });

    test('offers the rungs of the record with their true sizes and frame rates [9.2, 9.15]', () => {
      expect(video.variants).toEqual(expected.map(({ variant }) => variant));
      const offered = presentation.rungs.map(({ variant }) => ({
        size: `${variant.resolution?.width}x${variant.resolution?.height}`,
        frameRate: attributes(presentation.text, variant.uri).get('FRAME-RATE'),
      }));
      const wanted = expected.map(({ size, frameRate }) => ({ size, frameRate }));
      expect(offered).toHaveLength(wanted.length);
      expect(offered).toEqual(expect.arrayContaining(wanted));
      const measured = rungs.map(({ facts, frameTicks }) => ({
        size: `${facts.width}x${facts.height}`,
        frameRate: (TICKS / frameTicks).toFixed(3),
      }));
      expect(measured).toEqual(offered);
    });

    test('names codecs exactly as the streams do [9.1]', () => {
      const sound = audio && aacCodec(firstStream(audio));
      const named = presentation.rungs.map(({ variant }) => variant.codecs?.split(','));
      expect(named).toEqual(rungs.map((rung) => [avcCodec(firstStream(rung)), ...(sound ? [sound] : [])]));
    });

    test('states measured bit rates, the peak never too low [1.26, 1.27, 9.13, 9.14]', () => {
      const target = presentation.rungs[0]?.playlist.targetDuration ?? 0;
      const soundPeak = audio ? peakBitRate(weights(audio), target) : 0;
      const soundAverage = audio ? averageBitRate(weights(audio)) : 0;
      for (const [at, rung] of rungs.entries()) {
        const { bandwidth, averageBandwidth } = presentation.rungs[at]?.variant ?? {};
        const peak = peakBitRate(weights(rung), target) + soundPeak;
        expect(bandwidth).toBeGreaterThanOrEqual(Math.floor(peak));
        expect(bandwidth).toBeLessThanOrEqual(1.1 * peak);
        const average = averageBitRate(weights(rung)) + soundAverage;
        expect(Math.abs((averageBandwidth ?? 0) - average)).toBeLessThanOrEqual(0.1 * average);
      }
    });

    test('begins with the rung nearest to 2 Mb/s, and says of all what holds for all [1.32, 9.11]', () => {
      const distances = presentation.rungs.map(({ variant }) =>
        Math.abs((variant.averageBandwidth ?? 0) - FIRST_RUNG_RATE),
      );
      expect(distances[0]).toBe(Math.min(...distances));
      expect(presentation.playlist.independentSegments).toBe(true);
      for (const { variant } of presentation.rungs) {
        expect(attributes(presentation.text, variant.uri).get('CLOSED-CAPTIONS')).toBe('NONE');
      }
    });

    test('has one audio group for all rungs, or none where there is no sound', () => {
      const group = {
        type: 'AUDIO',
        groupId: expect.stringMatching(/./),
        name: expect.stringMatching(/./),
        isDefault: true,
        autoselect: true,
        channels: '2',
        uri: expect.stringMatching(/./),
      };
      const [first] = presentation.playlist.variants;
      for (const { audio: offered } of presentation.playlist.variants) {
        expect(offered).toEqual(hasAudio ? [expect.objectContaining(group)] : []);
        expect(offered).toEqual(first?.audio);
      }
      expect(audio?.facts.channels).toBe(hasAudio ? 2 : undefined);
    });
  });

  describe('as segments', () => {
    test('has the same boundaries on every rung, within a millisecond [8.22]', () => {
      const [first] = rungs;
      for (const rung of rungs) {
        expect(rung.starts).toHaveLength(first?.starts.length ?? 0);
        for (const [at, start] of [...rung.starts, rung.end].entries()) {
          const reference = first?.starts[at] ?? first?.end ?? Number.NaN;
          expect(Math.abs(start - reference)).toBeLessThanOrEqual(MILLISECOND);
        }
      }
    });

    test('begins each video segment with SPS, PPS and an IDR picture, the first one shown [7.4]', () => {
      for (const { stream, frames } of rungs.flatMap(({ segments }) => segments)) {
        const types = leadingUnits(stream)
          .map(({ type }) => type)
          .filter((type) => type !== NAL.delimiter && type !== NAL.sei);
        expect(types).toEqual([NAL.sps, NAL.pps, NAL.idrSlice]);
        expect(frames[0]).toMatchObject({ key: true, pts: Math.min(...frames.map(({ pts }) => pts)) });
      }
    });

    test('numbers its packets without a break from segment to segment [7.1]', () => {
      for (const { segments } of renditions) {
        expect(counterBreaks(segments.flatMap(({ packets }) => packets))).toEqual([]);
      }
    });

    test('shows frame after frame without a gap from segment to segment [7.2]', () => {
      for (const { times, frameTicks } of renditions) {
        const steps = times.slice(1).map((time, at) => time - (times[at] ?? 0));
        // Times are whole ticks.
        expect(Math.min(...steps)).toBeGreaterThan(frameTicks - 1);
        expect(Math.max(...steps)).toBeLessThan(frameTicks + 1);
      }
    });

    test('lasts as long as the playlists say, to a frame [8.1]', () => {
      for (const { segments, starts, end, frameTicks } of renditions) {
        for (const [at, { duration }] of segments.entries()) {
          const measured = (starts[at + 1] ?? end) - (starts[at] ?? 0);
          expect(Math.abs(duration * TICKS - measured)).toBeLessThanOrEqual(frameTicks);
        }
      }
      const [rung] = rungs;
      const seconds = ((rung?.end ?? 0) - (rung?.starts[0] ?? 0)) / TICKS;
      expect(video.duration).toBeCloseTo(seconds, 2);
    });

    test('begins and ends picture and sound within a frame of each other [8.7]', () => {
      const [rung] = rungs;
      if (audio === null || rung === undefined) {
        expect([hasAudio, audio]).toEqual([null, null]);
        return;
      }
      const frame = Math.max(rung.frameTicks, audio.frameTicks);
      expect(Math.abs((audio.starts[0] ?? 0) - (rung.starts[0] ?? 0))).toBeLessThanOrEqual(frame);
      expect(Math.abs(audio.end - rung.end)).toBeLessThanOrEqual(frame);
    });

    test('is encrypted whole under one key of 16 bytes, with the sequence number as vector', async () => {
      expect(presentation.key).toHaveLength(16);
      expect(
        renditions.flatMap(({ segments }) => segments.flatMap(({ packets }) => damagedTables(packets))),
      ).toEqual([]);
      for (const { delivered: file } of renditions.flatMap(({ segments }) => segments)) {
        const bytes = await readFile(file);
        expect(bytes.length % 16).toBe(0);
        expect(looksLikeTransportStream(bytes.subarray(0, 188 * 10))).toBe(false);
      }
    });
  });
});

test('no two videos share a key', () => {
  const keys = [...delivered.values()].map(({ presentation }) => presentation.key.toString('hex'));
  expect(new Set(keys).size).toBe(CASES.length);
});

/** The attributes of the tag before a URI of a master playlist, unquoted. */
function attributes(text: string, uri: string): Map<string, string> {
  const lines = text.split('\n');
  const tag = lines[lines.indexOf(uri) - 1] ?? '';
  const pairs = tag.matchAll(/([A-Z-]+)=(?:"([^"]*)"|([^",]*))/g);
  return new Map([...pairs].map(([, name = '', quoted, plain]) => [name, quoted ?? plain ?? '']));
}

function firstStream({ segments }: MeasuredRendition): Buffer {
  const [first] = segments;
  if (first === undefined) throw new Error('There is no segment');
  return first.stream;
}

/** Where a continuity counter does not say what it should (ISO/IEC 13818-1 §2.4.3.3). */
function counterBreaks(packets: readonly Packet[]): string[] {
  const counters = new Map<number, number>();
  const breaks: string[] = [];
  for (const { pid, continuity, payload } of packets) {
    const before = counters.get(pid);
    const expected = before === undefined ? continuity : (before + (payload.length > 0 ? 1 : 0)) % 16;
    if (continuity !== expected) breaks.push(`${pid}: ${continuity} instead of ${expected}`);
    counters.set(pid, continuity);
  }
  return breaks;
}

function weights({ segments }: MeasuredRendition) {
  return segments.map(({ bytes, duration }) => ({ bytes, seconds: duration }));
}
