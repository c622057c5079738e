import { TICKS } from '../media/pes-packets.ts';
import { nearest } from '../media/timestamps.ts';
import {
  type Captions,
  type CaptionsSegment,
  isVideo,
  type Presentation,
  type Rendition,
} from '../presentation.ts';
import { type Finding, judgeEach, notApplicable, type Rule, segmentPlace } from '../rule.ts';
import { timelineOf } from '../timeline.ts';

/** A cue, with times in seconds from the first frame. */
type Cue = { start: number; end: number; payload: string };

const MILLISECOND = 0.001;
const TIME = String.raw`(?:(\d{2,}):)?([0-5]\d):([0-5]\d\.\d{3})`;
const TIMING = new RegExp(String.raw`^${TIME}[ \t]+-->[ \t]+${TIME}(?:[ \t].*)?$`, 'm');

/** Rules for subtitles and captions in WebVTT. */
export const CAPTIONS_RULES: readonly Rule[] = [
  {
    id: 'captions.webvtt',
    level: 'must',
    source: 'RFC 8216 §3.5',
    sentence: 'Segments of captions are WebVTT, and have a header X-TIMESTAMP-MAP.',
    check: everyReadSegment((segment) => {
      const { text } = segment;
      if (text === null) return [];
      if (!/^\ufeff?WEBVTT(?:[ \t\r\n]|$)/.test(text)) return ['does not begin with WEBVTT'];
      const unreadable = text.split('\n').find((line) => line.includes('-->') && !TIMING.test(line));
      return [
        ...(mapOf(segment) === null ? ['has no valid X-TIMESTAMP-MAP'] : []),
        ...(unreadable === undefined ? [] : [`has the unreadable times ${unreadable.trim()}`]),
      ];
    }),
  },
  {
    id: 'captions.start',
    level: 'own',
    source: 'RFC 8216 §3.5',
    sentence: 'X-TIMESTAMP-MAP maps the time zero of captions to the first frame, to a millisecond.',
    check: eachRead((captions, presentation) => {
      const first = firstFrameOf(presentation);
      return captions.segments.flatMap((segment) => {
        const zero = zeroOf(segment, first);
        if (Math.abs(zero) <= MILLISECOND) return [];
        const message = `maps zero to ${zero.toFixed(3)} s after the first frame`;
        return [{ place: segmentPlace(captions.name, segment), message }];
      });
    }),
  },
  {
    id: 'captions.segments',
    level: 'own',
    source: 'RFC 8216 §3.5',
    sentence: 'Playlists of captions are complete, and have segments of the same durations as video.',
    check: withVideo((captions, _, video) => {
      const durations = (segments: readonly { duration: number }[]) =>
        segments.map(({ duration }) => duration.toFixed(3)).join();
      const { ended, type } = captions.playlist;
      const place = captions.name;
      return [
        ...(ended && type === 'VOD'
          ? []
          : [{ place, message: 'is not a complete playlist of the type VOD' }]),
        ...(durations(captions.segments) === durations(video.segments)
          ? []
          : [{ place, message: `has other segments than ${video.name}` }]),
      ];
    }),
  },
  {
    id: 'captions.cues',
    level: 'must',
    source: 'RFC 8216 §3.5',
    sentence:
      'A segment of captions has only cues that are shown during it. A cue that is shown longer is also in the next segment.',
    check: eachRead(cueFindings),
  },
  {
    id: 'captions.clear',
    level: 'own',
    source: 'hls.js issues 1365 and 4293',
    sentence: 'Captions are not encrypted, because hls.js does not decrypt them.',
    check: eachCaptions(
      everySegment(({ key }) => (key === null || key.method === 'NONE' ? [] : ['is encrypted'])),
    ),
  },
];

function cueFindings(captions: Captions, presentation: Presentation): Finding[] {
  const first = firstFrameOf(presentation);
  let start = 0;
  return captions.segments.flatMap((segment, at) => {
    const end = start + segment.duration;
    const next = captions.segments[at + 1];
    // A segment without text was not read.
    const inNext = next && next.text !== null ? cuesOf(next, first) : null;
    const messages = cuesOf(segment, first).flatMap((cue) => [
      ...(cue.start < end + MILLISECOND && cue.end > start - MILLISECOND
        ? []
        : [`has a cue ${spanText(cue.start, cue.end)}, and lasts ${spanText(start, end)}`]),
      ...(inNext === null || cue.end < end + MILLISECOND || inNext.some((other) => isSameCue(other, cue))
        ? []
        : [`has a cue ${spanText(cue.start, cue.end)} that is missing in the next segment`]),
    ]);
    start = end;
    return messages.map((message) => ({ place: segmentPlace(captions.name, segment), message }));
  });
}

/** The readable cues of a segment. `first` is the time of the first frame in ticks. */
function cuesOf(segment: CaptionsSegment, first: number | null): Cue[] {
  const zero = zeroOf(segment, first);
  // Lines of WebVTT end with LF, CRLF or CR.
  const blocks = (segment.text ?? '').replaceAll(/\r\n?/g, '\n').split(/\n{2,}/);
  return blocks.flatMap((block) => {
    const match = TIMING.exec(block);
    if (match === null) return [];
    const [start, end] = [zero + secondsOf(match.slice(1, 4)), zero + secondsOf(match.slice(4, 7))];
    return [{ start, end, payload: block.slice(match.index + match[0].length).trim() }];
  });
}

/** Cues have the same times in both segments, but the maps of the segments may be rounded differently. */
function isSameCue(one: Cue, other: Cue): boolean {
  const isNear = (time: number, otherTime: number) => Math.abs(time - otherTime) <= MILLISECOND;
  return one.payload === other.payload && isNear(one.start, other.start) && isNear(one.end, other.end);
}

function spanText(start: number, end: number): string {
  return `from ${start.toFixed(3)} to ${end.toFixed(3)} s`;
}

/** The time of the first frame in ticks; null if it is unknown. */
function firstFrameOf(presentation: Presentation): number | null {
  const video = presentation.renditions.find(isVideo);
  const timeline = video && timelineOf(video, presentation);
  const [first] = timeline && 'starts' in timeline ? timeline.starts : [];
  return first === undefined ? null : first * TICKS;
}

/** Seconds from the first frame to the time zero of a segment's cues; 0 if the segment has no map or the first frame is unknown. */
function zeroOf(segment: CaptionsSegment, first: number | null): number {
  const map = mapOf(segment);
  if (map === null || first === null) return 0;
  return (nearest(map.timestamp - map.local * TICKS, first) - first) / TICKS;
}

function secondsOf([hours = '0', minutes, seconds]: string[]): number {
  return (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds);
}

/** The timestamp of a local time, in ticks and seconds; null if it is missing. */
function mapOf({ text }: CaptionsSegment): { timestamp: number; local: number } | null {
  const [, map = ''] = /^X-TIMESTAMP-MAP=(.*)$/m.exec(text ?? '') ?? [];
  const timestamp = /\bMPEGTS:(\d+)/.exec(map)?.[1];
  const local = new RegExp(String.raw`\bLOCAL:${TIME}`).exec(map);
  if (timestamp === undefined || local === null) return null;
  return { timestamp: Number(timestamp), local: secondsOf(local.slice(1, 4)) };
}

type FindInCaptions = (captions: Captions, presentation: Presentation) => readonly Finding[];

function eachCaptions(find: FindInCaptions): Rule['check'] {
  return (presentation) =>
    judgeEach(presentation.captions, 'there are no captions', (each) => find(each, presentation));
}

/** For rules that need the text of captions. */
function eachRead(find: FindInCaptions): Rule['check'] {
  return (presentation) => {
    const read = presentation.captions.filter(({ unread }) => unread === null);
    return judgeEach(read, 'no captions could be read', (each) => find(each, presentation));
  };
}

function everySegment(violations: (segment: CaptionsSegment) => string[]): FindInCaptions {
  return ({ name, segments }) =>
    segments.flatMap((segment) =>
      violations(segment).map((message) => ({ place: segmentPlace(name, segment), message })),
    );
}

function everyReadSegment(violations: (segment: CaptionsSegment) => string[]): Rule['check'] {
  return eachRead(everySegment(violations));
}

function withVideo(
  findings: (captions: Captions, presentation: Presentation, video: Rendition) => readonly Finding[],
): Rule['check'] {
  return (presentation) => {
    const video = presentation.renditions.find(isVideo);
    if (video === undefined) return notApplicable('there is no video that can be read');
    return eachCaptions((captions) => findings(captions, presentation, video))(presentation, {});
  };
}
