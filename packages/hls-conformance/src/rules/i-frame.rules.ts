import { peakBitRate } from '../bit-rate.ts';
import { TICKS } from '../media/pes-packets.ts';
import { isWhole } from '../media/segment-content.ts';
import { nearest } from '../media/timestamps.ts';
import type { VideoContent } from '../media/video-track.ts';
import { isVideo, type LoadedSegment, type Presentation, type Rendition } from '../presentation.ts';
import { type Finding, judgeEach, type Rule, segmentPlace } from '../rule.ts';

/** EXTINF may be rounded to milliseconds. */
const TOLERANCE_TICKS = TICKS / 1000;
const BANDWIDTH_TOLERANCE = 0.1;
const NO_I_FRAMES = 'no I-frame playlist could be read';

/** Rules for I-frame playlists, from which players show frames while the viewer scrubs. */
export const I_FRAME_RULES: readonly Rule[] = [
  {
    id: 'i-frames.tag',
    level: 'must',
    source: 'RFC 8216 §4.3.3.6',
    sentence: 'I-frame playlists have the tag EXT-X-I-FRAMES-ONLY.',
    check: ({ iFrames }) =>
      judgeEach(readable(iFrames), NO_I_FRAMES, ({ name, playlist }) =>
        playlist.iFramesOnly ? [] : [{ place: name, message: 'has no EXT-X-I-FRAMES-ONLY' }],
      ),
  },
  {
    id: 'i-frames.single',
    level: 'must',
    source: 'RFC 8216 §4.3.3.6, §3.2, §3.3',
    sentence:
      'Each segment of an I-frame playlist is one IDR frame, after a PAT and a PMT in transport streams, with SPS and PPS.',
    check: ({ iFrames }) =>
      judgeEach(readable(iFrames), NO_I_FRAMES, (rendition) =>
        rendition.segments.flatMap((segment) => {
          const message = whyNoIFrame(segment);
          return message === null ? [] : [{ place: segmentPlace(rendition.name, segment), message }];
        }),
      ),
  },
  {
    id: 'i-frames.times',
    level: 'must',
    source: 'RFC 8216 §4.3.3.6',
    sentence: 'Each I-frame lasts until the next I-frame, and is the frame that a variant has at this time.',
    check: (presentation) =>
      judgeEach(readable(presentation.iFrames), NO_I_FRAMES, (rendition) =>
        timeFindings(rendition, presentation),
      ),
  },
  {
    id: 'i-frames.bandwidth',
    level: 'must',
    source: 'RFC 8216 §4.3.4.3',
    sentence: 'BANDWIDTH is the measured peak of the I-frames: never below it, at most 10 % above.',
    check: ({ master, iFrames }) =>
      judgeEach(readable(iFrames), NO_I_FRAMES, ({ name, url, segments, playlist }) => {
        const tag = master?.iFramePlaylists.find((other) => other.url === url);
        const declared = Number(tag?.attributes.get('BANDWIDTH')?.text);
        const weights = segments.map(({ bytes, duration }) => ({ bytes: bytes ?? 0, seconds: duration }));
        const { atLeast, atMost } = peakBitRate(weights, playlist.targetDuration ?? 0);
        if (declared >= Math.floor(atLeast) && declared <= atMost * (1 + BANDWIDTH_TOLERANCE)) return [];
        return [{ place: name, message: `BANDWIDTH is ${declared}, but the peak is ${atMost.toFixed(0)}` }];
      }),
  },
];

function readable(renditions: readonly Rendition[]): Rendition[] {
  return renditions.filter(({ unread }) => unread === null);
}

function whyNoIFrame({ content, decryption }: LoadedSegment): string | null {
  if (decryption.state === 'failed') return decryption.violation;
  if (content === null || !isWhole(content)) return content?.damage ?? 'has no PAT and PMT, or was not read';
  const { video, audio } = content;
  if (audio !== null) return 'contains audio';
  if (video === null) return 'contains no video that is read';
  if (video.frames !== 1) return `contains ${video.frames} frames`;
  if (video.opening.lacking.length > 0) return 'has no parameter sets';
  return video.opening.start?.isKey ? null : 'is not an IDR frame';
}

function timeFindings(rendition: Rendition, { renditions }: Presentation): Finding[] {
  const { name, segments } = rendition;
  const idrTimes = renditions
    .filter(isVideo)
    .map((each) => videosOf(each.segments).flatMap((v) => v.idrTimes));
  return segments.flatMap((segment, at) => {
    const first = segment.content?.video?.first;
    if (first === undefined) return [];
    const place = segmentPlace(name, segment);
    const same = idrTimes.some((times) => times.some((time) => isNear(time, first)));
    const next = segments[at + 1]?.content?.video?.first;
    const lasts = next === undefined ? null : nearest(next, first) - first;
    return [
      ...(same ? [] : [{ place, message: 'no variant has an IDR frame at its time' }]),
      ...(lasts === null || Math.abs(lasts - segment.duration * TICKS) <= TOLERANCE_TICKS
        ? []
        : [{ place, message: `the next one comes after ${(lasts / TICKS).toFixed(3)} s` }]),
    ];
  });
}

function isNear(time: number, other: number): boolean {
  return Math.abs(nearest(time, other) - other) <= TOLERANCE_TICKS;
}

function videosOf(segments: readonly LoadedSegment[]): VideoContent[] {
  return segments.map(({ content }) => content?.video ?? null).filter((video) => video !== null);
}
