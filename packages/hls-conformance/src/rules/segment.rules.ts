import { TICKS } from '../media/pes-packets.ts';
import {
  type Counters,
  isWhole,
  type SegmentContent,
  type TransportContent,
} from '../media/segment-content.ts';
import { nearest } from '../media/timestamps.ts';
import type { VideoContent } from '../media/video-track.ts';
import {
  isVideo,
  type LoadedSegment,
  type Presentation,
  type Rendition,
  shortAddress,
} from '../presentation.ts';
import { type Finding, judgeEach, type Rule, segmentPlace } from '../rule.ts';
import { audioFrame, spanOf, videoFrame } from '../timeline.ts';

/** A segment that was read to its end. */
type ReadSegment = LoadedSegment & { content: SegmentContent };

/** Two adjacent segments of a rendition. */
type Neighbours = { rendition: Rendition; before: ReadSegment; segment: ReadSegment };

const KEY_FRAME_SECONDS = 2;
/** Frames may be a millisecond off, because many containers have times in milliseconds. */
const STEP_TICKS = TICKS / 1000;
const NOTHING_READ = 'no segment could be read';
const NO_TRANSPORT_STREAM = 'no transport stream could be read';
const NO_FRAGMENTS = 'no fragmented MP4 could be read';
const NO_VIDEO = 'there is no video that is read';

/** Rules for each segment and the adjacent ones. */
export const SEGMENT_RULES: readonly Rule[] = [
  {
    id: 'segments.readable',
    level: 'must',
    source: 'RFC 8216 §3.2, §3.3; ISO/IEC 13818-1 §2.4.3; ISO/IEC 14496-12 §4.2',
    sentence:
      'Segments consist of whole packets of a transport stream or whole boxes of MP4, and their streams can be parsed.',
    check: everyContent(
      NOTHING_READ,
      () => true,
      ({ damage }) => (damage === null ? [] : [damage]),
    ),
  },
  {
    id: 'segments.tables',
    level: 'must',
    source: 'RFC 8216 §3.2',
    sentence: 'Every segment has an intact PAT and PMT before its video and audio.',
    check: everyContent(
      NO_TRANSPORT_STREAM,
      ({ transport }) => transport !== null,
      ({ transport, damage }) => (transport === null ? [] : tableViolations(transport, damage !== null)),
    ),
  },
  {
    id: 'segments.continuity',
    level: 'must',
    source: 'Apple 7.2; ISO/IEC 13818-1 §2.4.3.3',
    sentence: 'Continuity counters have no gaps, also between segments.',
    check: ({ renditions }) =>
      judgeEach(renditions.filter(isTransportStream), NO_TRANSPORT_STREAM, (rendition) => [
        ...readSegments(rendition).flatMap((segment) => innerBreaks(rendition, segment)),
        ...neighboursOf(rendition).flatMap(outerBreaks),
      ]),
  },
  {
    id: 'segments.initialization',
    level: 'must',
    source: 'RFC 8216 §3.3, §4.3.2.5',
    sentence:
      'An initialization section can be fetched and read: a ftyp with the brand iso6 or a later one, then a moov with its tracks, none of which has samples, and then mvex.',
    check: ({ initializations, url }) =>
      judgeEach(initializations, NO_FRAGMENTS, (each) =>
        each.violations.map((message) => ({ place: shortAddress(each.url, url), message })),
      ),
  },
  {
    id: 'segments.fragments',
    level: 'must',
    source: 'RFC 8216 §3.3',
    sentence:
      'Every fragment of MP4 has its decoding time (tfdt), and its frames are found from its own beginning.',
    check: everyContent(
      NO_FRAGMENTS,
      ({ fragments }) => fragments !== null,
      ({ fragments }) => fragments?.violations ?? [],
    ),
  },
  {
    id: 'segments.timestamps',
    level: 'must',
    source: 'Apple 7.1, 7.2',
    sentence: 'Timestamps have no gaps and no overlaps, also between segments.',
    check: ({ renditions }) =>
      judgeEach(readRenditions(renditions), NOTHING_READ, (rendition) => [
        ...readSegments(rendition).flatMap((segment) => innerJumps(rendition, segment)),
        ...neighboursOf(rendition).flatMap((pair) => [...videoGap(pair), ...audioGap(pair)]),
      ]),
  },
  {
    id: 'segments.idr',
    level: 'must',
    source: 'Apple 7.4; RFC 8216 §4.3.5.1',
    sentence:
      'Every video segment begins with its parameter sets and an IDR frame, which is displayed first; in AV1 with a sequence header and a key frame.',
    check: everyVideo(openingViolations),
  },
  {
    id: 'segments.configuration',
    level: 'own',
    source: 'RFC 8216 §4.3.2.3',
    sentence:
      'The profile, level, size and colours of video and the configuration of AAC are the same in all segments of a rendition.',
    check: ({ renditions, iFrames }) =>
      judgeEach(readRenditions([...renditions, ...iFrames]), NOTHING_READ, configurationChanges),
  },
  {
    id: 'segments.key-frames',
    level: 'should',
    source: 'Apple 1.13',
    sentence: 'The video has an IDR frame every two seconds.',
    check: everyVideo((video, { segments }) => {
      const frame = videoFrame(segments) ?? 0;
      const times = [...video.idrTimes, video.latest + frame];
      const gaps = times.slice(1).map((time, at) => (time - (times[at] ?? time)) / TICKS);
      const longest = Math.max(0, ...gaps);
      return longest <= KEY_FRAME_SECONDS + frame / TICKS + 0.001
        ? []
        : [`${longest.toFixed(3)} s without an IDR frame`];
    }),
  },
  {
    id: 'segments.constant-frame-rate',
    level: 'own',
    source: 'Apple 1.18',
    sentence: 'The frame rate is constant, to a millisecond.',
    check: everyVideo(({ shortestStep, longestStep }, { segments }) => {
      const frame = videoFrame(segments);
      if (frame === null || shortestStep === null || longestStep === null) return [];
      if (frame - shortestStep <= STEP_TICKS && longestStep - frame <= STEP_TICKS) return [];
      return [`frames are ${inMs(shortestStep)} to ${inMs(longestStep)} apart, on average ${inMs(frame)}`];
    }),
  },
];

/** Judges the contents of all segments that could be read and that `applies` to. */
function everyContent(
  reasonIfNone: string,
  applies: (content: SegmentContent) => boolean,
  violations: (content: SegmentContent) => readonly string[],
): Rule['check'] {
  return ({ renditions }) => {
    const all = renditions.flatMap(({ name, segments }) =>
      segments.flatMap((segment) =>
        segment.content !== null && applies(segment.content)
          ? [{ place: segmentPlace(name, segment), content: segment.content }]
          : [],
      ),
    );
    return judgeEach(all, reasonIfNone, ({ place, content }) =>
      violations(content).map((message) => ({ place, message })),
    );
  };
}

function tableViolations({ hasPat, hasPmt, damagedTables }: TransportContent, isDamaged: boolean): string[] {
  if (damagedTables.length > 0)
    return [`the table with PID ${damagedTables.join(', ')} has a wrong checksum`];
  if (isDamaged) return [];
  if (!hasPat) return ['has no PAT'];
  return hasPmt ? [] : ['has no PMT before its streams'];
}

/** Judges the video of all segments of video renditions. */
function everyVideo(violations: (video: VideoContent, rendition: Rendition) => string[]): Rule['check'] {
  return ({ renditions }: Presentation) =>
    judgeEach(renditions.filter(isVideo), NO_VIDEO, (rendition) =>
      rendition.segments.flatMap((segment) => {
        const video = isRead(segment) ? segment.content.video : null;
        if (video === null) return [];
        return violations(video, rendition).map((message) => ({
          place: segmentPlace(rendition.name, segment),
          message,
        }));
      }),
    );
}

function readRenditions(renditions: readonly Rendition[]): Rendition[] {
  return renditions.filter((rendition) => readSegments(rendition).length > 0);
}

function isTransportStream(rendition: Rendition): boolean {
  return readSegments(rendition).some(({ content }) => content.transport !== null);
}

function countersOf({ content }: ReadSegment): readonly Counters[] {
  return content.transport?.counters ?? [];
}

function isRead(segment: LoadedSegment | undefined): segment is ReadSegment {
  return segment !== undefined && segment.content !== null && isWhole(segment.content);
}

function readSegments({ segments }: Rendition): ReadSegment[] {
  return segments.filter(isRead);
}

/** Adjacent segments that were both read and have no discontinuity between them. */
function neighboursOf(rendition: Rendition): Neighbours[] {
  return rendition.segments.flatMap((segment, at) => {
    const before = rendition.segments[at - 1];
    return isRead(before) && isRead(segment) && !segment.discontinuity
      ? [{ rendition, before, segment }]
      : [];
  });
}

function innerBreaks({ name }: Rendition, segment: ReadSegment): Finding[] {
  return countersOf(segment)
    .filter(({ breaks }) => breaks > 0)
    .map(({ pid, breaks }) => ({
      place: segmentPlace(name, segment),
      message: `the continuity counter of PID ${pid} breaks ${breaks === 1 ? 'once' : `${breaks} times`}`,
    }));
}

function outerBreaks({ rendition, before, segment }: Neighbours): Finding[] {
  return countersOf(segment).flatMap(({ pid, first }) => {
    const last = countersOf(before).find((counters) => counters.pid === pid)?.last;
    if (last === undefined || first === (last + 1) % 16) return [];
    const message = `the continuity counter of PID ${pid} begins at ${first}, the previous segment ended at ${last}`;
    return [{ place: segmentPlace(rendition.name, segment), message }];
  });
}

function innerJumps({ name }: Rendition, segment: ReadSegment): Finding[] {
  const { video, audio } = segment.content;
  const violations = [
    ...(video && video.dtsFalls > 0 ? [`decoding times do not rise (${video.dtsFalls} times)`] : []),
    ...(audio && audio.jumps > 0 ? [`audio timestamps jump (${audio.jumps} times)`] : []),
  ];
  return violations.map((message) => ({ place: segmentPlace(name, segment), message }));
}

/** The time between two segments must be that between frames: no overlap, and no frame missing. */
function videoGap({ rendition, before, segment }: Neighbours): Finding[] {
  const [first, second] = [before.content.video, segment.content.video];
  const frame = videoFrame(rendition.segments);
  if (!first || !second || frame === null) return [];
  const step = nearest(second.earliest, first.latest) - first.latest;
  const longest = Math.max(frame, first.longestStep ?? 0, second.longestStep ?? 0);
  const falls = nearest(second.firstDts, first.lastDts) <= first.lastDts;
  const place = segmentPlace(rendition.name, segment);
  if (step > 0.5 * frame && step < 1.5 * longest && !falls) return [];
  if (falls && step > 0)
    return [{ place, message: 'has a decoding time before the end of the previous segment' }];
  return [
    {
      place,
      message: `begins ${inMs(step)} after the previous segment's last frame; a frame lasts ${inMs(frame)}`,
    },
  ];
}

function audioGap({ rendition, before, segment }: Neighbours): Finding[] {
  const frame = audioFrame(rendition.segments);
  const end = spanOf(before.content, 'audio', 0)?.end;
  const start = spanOf(segment.content, 'audio', 0)?.start;
  if (frame === null || end === undefined || start === undefined) return [];
  const gap = nearest(start, end) - end;
  if (Math.abs(gap) <= 0.5 * frame) return [];
  const message = `its audio begins ${inMs(gap)} after the previous audio ends`;
  return [{ place: segmentPlace(rendition.name, segment), message }];
}

/** The first segment whose configuration is not that of the segments before it. */
function configurationChanges(rendition: Rendition): Finding[] {
  const video = new Set<string>();
  const audio = new Set<string>();
  for (const segment of readSegments(rendition)) {
    const { content } = segment;
    for (const set of content.video?.parameterSets ?? []) video.add(set);
    if (content.audio) audio.add(JSON.stringify(content.audio.config));
    const place = segmentPlace(rendition.name, segment);
    if (video.size > 1) return [{ place, message: 'has another sequence parameter set' }];
    if (audio.size > 1 || content.audio?.changes)
      return [{ place, message: 'has another configuration of AAC' }];
  }
  return [];
}

function openingViolations({ codec, opening, first, earliest }: VideoContent): string[] {
  const { start, lacking } = opening;
  const violations = lacking.length > 0 ? [`has no ${lacking.join(' and ')} before its first frame`] : [];
  if (!start?.isKey) {
    const kind = codec === 'AV1' ? 'a key frame that is shown' : 'IDR';
    violations.push(`begins with a frame that is not ${kind} (${start?.kind ?? 'none'})`);
  }
  if (earliest < first) violations.push(`displays a frame ${inMs(first - earliest)} before its first one`);
  return violations;
}

function inMs(ticks: number): string {
  return `${((1000 * ticks) / TICKS).toFixed(1)} ms`;
}
