import { isDeepStrictEqual } from 'node:util';
import { SAMPLES_PER_FRAME } from '../media/adts.ts';
import { type ColourTags, rangeOf, type SequenceParameters } from '../media/video-syntax.ts';
import { isAudioOnly, isVideo, type Rendition } from '../presentation.ts';
import {
  type Finding,
  judged,
  judgeEach,
  notApplicable,
  type Rule,
  segmentPlace,
  type Verdict,
} from '../rule.ts';
import { muxedAudioOf, type Timeline, timelineOf } from '../timeline.ts';

/** A rendition whose times are known. */
type Timed = { rendition: Rendition; timeline: Timeline };

/** The times of all video, and of audio in its own renditions or in the video segments. */
type Times = { video: Timed[]; audio: Timed[] };

const MILLISECOND = 0.001;
/** Half a tick. */
const ROUNDING = 1 / 180_000;
/** The delay that AAC encoders such as Apple's add. Decoders remove it. */
const PRIMING_SAMPLES = 2112;

/** Rules for renditions relative to each other: a player may change from any to any other. */
export const ALIGNMENT_RULES: readonly Rule[] = [
  {
    id: 'alignment.video-start',
    level: 'must',
    source: 'RFC 8216 §6.2.4',
    sentence: 'All video renditions begin at the same timestamp, to a millisecond.',
    check: withTimes(({ video: [first, ...others] }) => {
      if (!first || others.length === 0) return notApplicable('there are fewer than two video renditions');
      return judged(
        others.flatMap((other) => {
          const difference = startOf(other) - startOf(first);
          if (Math.abs(difference) <= MILLISECOND + ROUNDING) return [];
          return [
            {
              place: other.rendition.name,
              message: `begins ${inMs(difference)} after ${first.rendition.name}`,
            },
          ];
        }),
      );
    }),
  },
  {
    id: 'alignment.video-segments',
    level: 'must',
    source: 'Apple 8.22',
    sentence:
      'All video renditions have the same number of segments, cut at the same times, to a millisecond.',
    check: withTimes(({ video: [first, ...others] }) => {
      if (!first || others.length === 0) return notApplicable('there are fewer than two video renditions');
      return judged(
        others.flatMap((other) => cutFindings(other, first, MILLISECOND + ROUNDING)),
        `${first.timeline.starts.length} segments`,
      );
    }),
  },
  {
    id: 'alignment.audio-segments',
    level: 'should',
    source: 'Apple 8.22',
    sentence:
      'Audio segments are cut at the times of the video segments. Two audio frames of difference are allowed, because audio begins with a delay.',
    check: withTimes(({ video: [first], audio }) => {
      const apart = audio.filter(({ rendition }) => rendition !== first?.rendition);
      if (!first || apart.length === 0)
        return notApplicable('there are no separate video and audio renditions');
      return judged(apart.flatMap((each) => cutFindings(each, first, 2 * each.timeline.frame)));
    }),
  },
  {
    id: 'alignment.audio-start',
    level: 'must',
    source: 'Apple 8.7',
    sentence:
      'Audio begins with the video: at most a frame later, and earlier by at most the delay of an encoder.',
    check: withTimes(({ video: [first], audio }) => {
      if (!first || audio.length === 0) return notApplicable('the stream does not have both video and audio');
      return judged(
        audio.flatMap((each) => {
          const difference = startOf(each) - startOf(first);
          const delay = (PRIMING_SAMPLES / SAMPLES_PER_FRAME) * each.timeline.frame;
          const longest = Math.max(first.timeline.frame, each.timeline.frame);
          if (difference >= -delay - MILLISECOND && difference <= longest + ROUNDING) return [];
          return [
            { place: each.rendition.name, message: `audio begins ${inMs(difference)} after the video` },
          ];
        }),
      );
    }),
  },
  {
    id: 'alignment.end',
    level: 'must',
    source: 'Apple 8.3, 8.7',
    sentence: 'All renditions end within a frame of each other.',
    check: withTimes(({ video, audio }) => {
      const [first, ...others] = [...video, ...audio];
      if (!first || others.length === 0) return notApplicable('there are fewer than two renditions');
      const figures = others.map((other) => `${inMs(other.timeline.end - first.timeline.end)}`);
      return judged(
        others.flatMap((other) => endFindings(other, first)),
        `off by ${figures.join(', ')}`,
      );
    }),
  },
  {
    id: 'alignment.colours',
    level: 'own',
    source: 'ISO/IEC 14496-10 annex E.2.1; ITU-T H.273',
    sentence:
      'All video renditions state their primaries, transfer function, matrix and range. They are the same in all of SDR, in all of PQ and in all of HLG.',
    check: ({ renditions }) => {
      const tagged = renditions.flatMap((rendition) => {
        const parameters = rendition.segments[0]?.content?.video?.parameters;
        return typeof parameters === 'object' && parameters ? [{ rendition, parameters }] : [];
      });
      return judgeEach(tagged, 'no parameter set could be read', ({ rendition, parameters }) =>
        colourFindings(
          rendition,
          parameters,
          tagged.find((other) => rangeOf(other.parameters.colours) === rangeOf(parameters.colours))
            ?.parameters,
        ),
      );
    },
  },
];

/** The code point of colours that are not stated. */
const UNSPECIFIED = 2;

function colourFindings(
  { name: place }: Rendition,
  { colours }: SequenceParameters,
  first: SequenceParameters | undefined,
): Finding[] {
  const { primaries, transfer, matrix } = colours;
  if ([primaries, transfer, matrix].includes(UNSPECIFIED)) {
    return [{ place, message: `does not state all colours: ${describeColours(colours)}` }];
  }
  if (first === undefined || isDeepStrictEqual(colours, first.colours)) return [];
  return [{ place, message: `has ${describeColours(colours)}, not ${describeColours(first.colours)}` }];
}

function describeColours({ primaries, transfer, matrix, fullRange }: ColourTags): string {
  return `primaries ${primaries}, transfer ${transfer}, matrix ${matrix}, ${fullRange ? 'full' : 'limited'} range`;
}

/** Not applicable if the times of a rendition are unknown. */
function withTimes(judge: (times: Times) => Verdict): Rule['check'] {
  return (presentation) => {
    const times: Times = { video: [], audio: [] };
    for (const rendition of presentation.renditions) {
      const timeline = timelineOf(rendition, presentation);
      if ('reason' in timeline) return notApplicable(timeline.reason);
      if (isVideo(rendition)) times.video.push({ rendition, timeline });
      const audio = isAudioOnly(rendition) ? timeline : muxedAudioOf(rendition, presentation);
      if (audio) times.audio.push({ rendition, timeline: audio });
    }
    return judge(times);
  };
}

/** Segments that begin at other times than those of another rendition, relative to the start of each. */
function cutFindings(timed: Timed, reference: Timed, tolerance: number): Finding[] {
  const { rendition, timeline } = timed;
  const [own, other] = [timeline.starts, reference.timeline.starts];
  if (own.length !== other.length) {
    const message = `has ${own.length} segments, ${reference.rendition.name} has ${other.length}`;
    return [{ place: rendition.name, message }];
  }
  return rendition.segments.flatMap((segment, at) => {
    const begin = (own[at] ?? Number.NaN) - startOf(timed);
    const difference = begin - ((other[at] ?? Number.NaN) - startOf(reference));
    if (Math.abs(difference) <= tolerance) return [];
    const message = `is cut ${inMs(difference)} after ${reference.rendition.name}, ${begin.toFixed(3)} s from the start`;
    return [{ place: segmentPlace(rendition.name, segment), message }];
  });
}

function endFindings({ rendition, timeline }: Timed, first: Timed): Finding[] {
  const difference = timeline.end - first.timeline.end;
  const frame = Math.max(timeline.frame, first.timeline.frame);
  if (Math.abs(difference) <= frame + ROUNDING) return [];
  const message = `ends ${inMs(difference)} after ${first.rendition.name}, where a frame is ${inMs(frame)}`;
  return [{ place: rendition.name, message }];
}

function startOf({ timeline }: Timed): number {
  return timeline.starts[0] ?? Number.NaN;
}

function inMs(seconds: number): string {
  return `${(1000 * seconds).toFixed(1)} ms`;
}
