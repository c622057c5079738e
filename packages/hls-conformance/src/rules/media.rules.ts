import { TICKS } from '../media/pes-packets.ts';
import { isTag } from '../playlists/playlist-text.ts';
import { isVideo, type Presentation, type Rendition } from '../presentation.ts';
import {
  type Finding,
  judged,
  judgeEach,
  linePlace,
  notApplicable,
  type Rule,
  segmentPlace,
  type Verdict,
} from '../rule.ts';
import { type Timeline, timelineOf } from '../timeline.ts';

const TARGET_SECONDS = 6;
/** Timestamps are whole ticks. */
const TICK_SECONDS = 1 / TICKS;

/** Rules for media playlists. */
export const MEDIA_RULES: readonly Rule[] = [
  {
    id: 'media.target-duration',
    level: 'must',
    source: 'RFC 8216 §4.3.3.1; Apple 7.7',
    sentence: 'No EXTINF, rounded to whole seconds, exceeds EXT-X-TARGETDURATION.',
    check: everyRendition(({ name, playlist: { targetDuration }, segments }) =>
      segments
        .filter(({ duration }) => targetDuration !== null && Math.round(duration) > targetDuration)
        .map((segment) => ({
          place: segmentPlace(name, segment),
          message: `lasts ${segment.duration} s, the target duration is ${targetDuration} s`,
        })),
    ),
  },
  {
    id: 'media.same-target-duration',
    level: 'must',
    source: 'Apple 8.2',
    sentence: 'All video and audio playlists have the same target duration.',
    check: ({ renditions }) => {
      const known = renditions.filter(({ playlist }) => playlist.targetDuration !== null);
      const [first, ...others] = known;
      if (!first || others.length === 0) return notApplicable('there are fewer than two media playlists');
      const target = first.playlist.targetDuration;
      return judged(
        others
          .filter(({ playlist }) => playlist.targetDuration !== target)
          .map(({ name, playlist }) => ({
            place: name,
            message: `has ${playlist.targetDuration} s, ${first.name} has ${target} s`,
          })),
        `${target} s`,
      );
    },
  },
  {
    id: 'media.six-seconds',
    level: 'should',
    source: 'Apple 7.5',
    sentence: 'Target durations are 6 seconds.',
    check: ({ renditions }) => {
      const several = renditions.filter(({ segments }) => segments.length > 1);
      return judgeEach(several, 'no playlist has several segments', ({ name, playlist, segments }) => {
        const { targetDuration } = playlist;
        const seconds = segments.reduce((sum, { duration }) => sum + duration, 0);
        // The first segments may be shorter, so that playback can soon begin.
        const isShort = seconds < 3 * TARGET_SECONDS && (targetDuration ?? 0) < TARGET_SECONDS;
        return isShort || targetDuration === TARGET_SECONDS || targetDuration === null
          ? []
          : [{ place: name, message: `has a target duration of ${targetDuration} s` }];
      });
    },
  },
  {
    id: 'media.playlist-type',
    level: 'must',
    source: 'Apple 8.6',
    sentence: 'Playlists of video on demand have EXT-X-PLAYLIST-TYPE:VOD.',
    check: ({ renditions }) =>
      judgeEach(
        renditions.filter(({ playlist }) => playlist.ended && playlist.type !== 'EVENT'),
        'no playlist is of video on demand',
        ({ name, playlist: { type } }) =>
          type === 'VOD'
            ? []
            : [
                {
                  place: name,
                  message: type === null ? 'has no EXT-X-PLAYLIST-TYPE' : `has the type ${type}`,
                },
              ],
      ),
  },
  {
    id: 'media.complete',
    level: 'own',
    source: 'RFC 8216 §4.3.3',
    sentence: 'Playlists have the type VOD, begin with media sequence number 0 and end with EXT-X-ENDLIST.',
    check: everyRendition(({ name, file, playlist: { type, firstSequence, ended } }) => {
      const last = file?.lines.at(-1);
      const endsWithIt = last && isTag(last) && last.name === 'EXT-X-ENDLIST';
      const violations = [
        ...(type !== null && type !== 'VOD' ? [`has the type ${type}`] : []),
        ...(firstSequence === 0 ? [] : [`begins with number ${firstSequence}`]),
        ...(ended && endsWithIt ? [] : ['does not end with EXT-X-ENDLIST']),
      ];
      return violations.map((message) => ({ place: name, message }));
    }),
  },
  {
    id: 'media.no-discontinuity',
    level: 'own',
    source: 'RFC 8216 §4.3.2.3',
    sentence: 'There are no discontinuities.',
    check: everyRendition(({ name, file }) =>
      (file?.lines ?? [])
        .filter(isTag)
        .filter((tag) => tag.name === 'EXT-X-DISCONTINUITY')
        .map((tag) => ({ place: linePlace(name, tag), message: 'has EXT-X-DISCONTINUITY' })),
    ),
  },
  {
    id: 'media.durations',
    level: 'must',
    source: 'Apple 8.1',
    sentence:
      'For consecutive segments, the sum of their EXTINF and the duration that their timestamps give differ by at most one video frame.',
    check: durations,
  },
];

function everyRendition(find: (rendition: Rendition) => Finding[]): Rule['check'] {
  return ({ renditions }) =>
    judgeEach(
      renditions.filter(({ file }) => file !== null),
      'no media playlist could be fetched',
      find,
    );
}

function durations(presentation: Presentation): Verdict {
  const timelines = presentation.renditions.map((rendition) => ({
    rendition,
    timeline: timelineOf(rendition, presentation),
  }));
  const frames = timelines.flatMap(({ rendition, timeline }) =>
    isVideo(rendition) && 'frame' in timeline ? [timeline.frame] : [],
  );
  const findings: Finding[] = [];
  const figures: string[] = [];
  for (const { rendition, timeline } of timelines) {
    if ('reason' in timeline) return notApplicable(timeline.reason);
    if (rendition.segments.some(({ duration }) => Number.isNaN(duration))) {
      return notApplicable(`${rendition.name} has segments without a duration`);
    }
    const allowed = Math.max(timeline.frame, ...frames) + TICK_SECONDS;
    const { error, first, last } = worstRun(rendition, timeline);
    figures.push(`${rendition.name}: ${milliseconds(error)}`);
    if (error <= allowed) continue;
    findings.push({
      place: `${rendition.name}, segments ${first} to ${last}`,
      message: `the EXTINF are ${milliseconds(error)} off the timestamps, a frame is ${milliseconds(allowed)}`,
    });
  }
  return judged(findings, `off by at most ${figures.join(', ')}`);
}

/** The run of segments whose EXTINF differ most from the timestamps. In seconds and media sequence numbers. */
function worstRun({ segments }: Rendition, { starts, end }: Timeline) {
  const [begin = 0] = starts;
  let listed = 0;
  const errors = [0];
  for (const [at, { duration }] of segments.entries()) {
    listed += duration;
    errors.push(listed - ((starts[at + 1] ?? end) - begin));
  }
  const [lowest, highest] = [Math.min(...errors), Math.max(...errors)];
  const edges = [errors.indexOf(lowest), errors.indexOf(highest)].sort((a, b) => a - b);
  const numbered = (at: number) => segments[at]?.sequence ?? at;
  return {
    error: highest - lowest,
    first: numbered(edges[0] ?? 0),
    last: numbered((edges[1] ?? 1) - 1),
  };
}

function milliseconds(seconds: number): string {
  return `${(1000 * seconds).toFixed(1)} ms`;
}
