import { SAMPLES_PER_FRAME } from './media/adts.ts';
import { TICKS } from './media/pes-packets.ts';
import { isWhole, type SegmentContent } from './media/segment-content.ts';
import { nearest } from './media/timestamps.ts';
import type { VideoContent } from './media/video-track.ts';
import type { LoadedSegment, Presentation, Rendition } from './presentation.ts';

/** When a rendition's segments begin, by their timestamps. Times in seconds, on one clock for all renditions. */
export type Timeline = {
  starts: number[];
  /** When the last frame ends. */
  end: number;
  /** How long a frame lasts, on average. */
  frame: number;
};

/** Why the times of a rendition are unknown. */
export type NoTimeline = { reason: string };

/** The times of one segment, in ticks. */
type Span = { start: number; end: number };

/** The times of a rendition's video, or of its audio if it has no video. */
export function timelineOf(rendition: Rendition, presentation: Presentation): Timeline | NoTimeline {
  const { name, segments, unread } = rendition;
  if (unread !== null) return { reason: `the segments of ${name} are not read: ${unread}` };
  if (segments.some(({ discontinuity }) => discontinuity)) return { reason: `${name} has discontinuities` };
  const unreadable = segments.find(({ content }) => content === null || !isWhole(content));
  if (unreadable) return { reason: `segment ${unreadable.sequence} of ${name} could not be read` };
  const kind = segments.some(({ content }) => content?.video) ? 'video' : 'audio';
  if (kind === 'audio' && segments.some(({ content }) => content?.otherStreamTypes.length)) {
    return { reason: `${name} has streams besides its audio that are not read` };
  }
  const frame = kind === 'video' ? videoFrame(segments) : audioFrame(segments);
  if (frame === null) return { reason: `${name} has no video or AAC with known times` };
  return assemble(rendition, kind, frame, clockOf(presentation));
}

/** The times of the audio in a video rendition's own segments; null without any, or if they are unknown. */
export function muxedAudioOf(rendition: Rendition, presentation: Presentation): Timeline | null {
  const { segments } = rendition;
  if ('reason' in timelineOf(rendition, presentation)) return null;
  const frame = audioFrame(segments);
  if (frame === null || !segments.every(({ content }) => content?.audio)) return null;
  const timeline = assemble(rendition, 'audio', frame, clockOf(presentation));
  return 'reason' in timeline ? null : timeline;
}

/** Begin and end of a segment by its own timestamps, in ticks. */
export function spanOf(content: SegmentContent, kind: 'video' | 'audio', frame: number): Span | null {
  if (kind === 'audio') return content.audio && { start: content.audio.start, end: content.audio.end };
  const { video } = content;
  return video && { start: video.earliest, end: video.latest + frame };
}

/** A reference to unwrap the timestamps of all renditions: the first timestamp of the presentation. */
function clockOf({ renditions }: Presentation): number {
  for (const { segments } of renditions) {
    const { video, audio } = segments[0]?.content ?? {};
    const time = video?.earliest ?? audio?.start;
    if (time !== undefined) return time;
  }
  return 0;
}

function assemble(
  { name, segments }: Rendition,
  kind: 'video' | 'audio',
  frame: number,
  clock: number,
): Timeline | NoTimeline {
  const starts: number[] = [];
  let end = Number.NaN;
  let reference = clock;
  for (const { sequence, content } of segments) {
    const span = content && spanOf(content, kind, frame);
    if (!span) return { reason: `segment ${sequence} of ${name} has no ${kind}` };
    const start = nearest(span.start, reference);
    starts.push(start / TICKS);
    end = (start + span.end - span.start) / TICKS;
    reference = start;
  }
  return { starts, end, frame: frame / TICKS };
}

/**
 * The average time between frames within segments, in ticks; gaps between segments do not count. Null if there are too
 * few frames, or if some have no timestamp.
 */
export function videoFrame(segments: readonly LoadedSegment[]): number | null {
  const videos = wholeVideos(segments);
  const steps = videos.reduce((sum, { frames }) => sum + frames - 1, 0);
  if (steps === 0 || videos.some(({ untimed }) => untimed > 0)) return null;
  return videos.reduce((sum, { earliest, latest }) => sum + latest - earliest, 0) / steps;
}

/** The video of the segments that could be read as a whole. */
export function wholeVideos(segments: readonly LoadedSegment[]): VideoContent[] {
  return segments.flatMap(({ content }) => (content && isWhole(content) && content.video) || []);
}

/** The duration of an AAC frame, in ticks; null without audio. */
export function audioFrame(segments: readonly LoadedSegment[]): number | null {
  const config = segments.find(({ content }) => content?.audio)?.content?.audio?.config;
  return config ? (SAMPLES_PER_FRAME * TICKS) / config.sampleRate : null;
}
