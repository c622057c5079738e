import { TICKS } from '../media/pes-packets.ts';
import {
  type Captions,
  type CaptionsSegment,
  isVideo,
  type Presentation,
  type Rendition,
} from '../presentation.ts';
import { type Finding, judged, notApplicable, type Rule, segmentPlace, type Verdict } from '../rule.ts';
import { timelineOf } from '../timeline.ts';

/** A cue, with times in seconds from the origin of the file. */
type Cue = { start: number; end: number; block: string };

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
    check: everySegment((segment) => {
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
    check: withVideo((captions, presentation, video) => {
      const timeline = timelineOf(video, presentation);
      if ('reason' in timeline) return [];
      const [first = Number.NaN] = timeline.starts;
      return captions.segments.flatMap((segment) => {
        const map = mapOf(segment);
        const difference = map === null ? 0 : map.timestamp / TICKS - map.local - first;
        if (Math.abs(difference) <= MILLISECOND) return [];
        const message = `maps zero to ${difference.toFixed(3)} s after the first frame`;
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
    check: eachCaptions(cueFindings),
  },
  {
    id: 'captions.clear',
    level: 'own',
    source: 'hls.js issues 1365 and 4293',
    sentence: 'Captions are not encrypted, because hls.js does not decrypt them.',
    check: everySegment(({ key }) => (key === null || key.method === 'NONE' ? [] : ['is encrypted'])),
  },
];

function cueFindings(captions: Captions): Finding[] {
  let start = 0;
  return captions.segments.flatMap((segment, at) => {
    const end = start + segment.duration;
    const next = captions.segments[at + 1];
    const inNext = new Set(next && cuesOf(next).map(({ block }) => block));
    const messages = cuesOf(segment).flatMap((cue) => [
      ...(cue.start < end + MILLISECOND && cue.end > start - MILLISECOND
        ? []
        : [`has a cue from ${cue.start} to ${cue.end} s, and lasts from ${start} to ${end} s`]),
      ...(next === undefined || cue.end < end + MILLISECOND || inNext.has(cue.block)
        ? []
        : [`has a cue until ${cue.end} s that is missing in the next segment`]),
    ]);
    start = end;
    return messages.map((message) => ({ place: segmentPlace(captions.name, segment), message }));
  });
}

/** The readable cues of a segment. Times count from the time zero of its map, which is the first frame. */
function cuesOf({ text }: CaptionsSegment): Cue[] {
  return (text ?? '').split(/\n{2,}/).flatMap((block) => {
    const match = TIMING.exec(block);
    if (match === null) return [];
    const [start, end] = [match.slice(1, 4), match.slice(4, 7)].map(secondsOf) as [number, number];
    return [{ start, end, block: block.trim() }];
  });
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

function eachCaptions(
  findings: (captions: Captions, presentation: Presentation) => readonly Finding[],
): Rule['check'] {
  return (presentation): Verdict => {
    if (presentation.captions.length === 0) return notApplicable('there are no captions');
    return judged(presentation.captions.flatMap((captions) => findings(captions, presentation)));
  };
}

function everySegment(violations: (segment: CaptionsSegment) => string[]): Rule['check'] {
  return eachCaptions((captions) =>
    captions.segments.flatMap((segment) =>
      violations(segment).map((message) => ({ place: segmentPlace(captions.name, segment), message })),
    ),
  );
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
