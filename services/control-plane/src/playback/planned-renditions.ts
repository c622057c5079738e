import type { StartedRenditions } from '@framelane/contracts/outputs/renditions';
import { makesSegment, PLANNING_TASK, taskNumber } from '@framelane/contracts/outputs/tasks';
import { PACKAGINGS } from '@framelane/contracts/packaging';
import type { RenditionName } from '@framelane/contracts/renditions';
import { audioSegmentStarts } from '@framelane/contracts/segment-times';
import type { TranscodePlan, VideoFacts } from '@framelane/contracts/transcode-plan';
import type { RenditionFacts } from './master-playlist.ts';
import { type RenditionSegments, targetDurationOf } from './media-playlist.ts';

/** The part of a plan that a preview needs. */
export type PlannedVideo = Pick<TranscodePlan, 'encode' | 'segmentStarts' | 'tasks'> & {
  facts: Pick<VideoFacts, 'audioTracks'>;
};

/** Upper limit of the bit rate of each audio channel, encoded or copied, in bits a second. */
const CHANNEL_RATE = 96_000;

/** A plan without what a preview does not need, such as key frames and the text of captions: plans stay in memory. */
export function plannedVideo({ encode, facts, segmentStarts, tasks }: PlannedVideo): PlannedVideo {
  const planned = tasks.map((task) =>
    'keyFrames' in task ? { ...task, keyFrames: [], bytes: undefined } : task,
  );
  const { keyFrames: _, ...needed } = encode;
  return { encode: needed, facts: { audioTracks: facts.audioTracks }, segmentStarts, tasks: planned };
}

/**
 * The renditions of a plan that have started, as the master playlist describes them before they are measured. The bit rate is the
 * limit that they keep over two seconds or more; a single segment can exceed it a little.
 */
export function plannedRenditions(
  { encode, facts }: Pick<PlannedVideo, 'encode' | 'facts'>,
  started: StartedRenditions,
): RenditionFacts[] {
  const frameRate = encode.frameRate.numerator / encode.frameRate.denominator;
  const video = encode.videoRenditions.map(({ name, width, height, maxRate, frameStep }) => ({
    name,
    width,
    height,
    frameRate: frameRate / frameStep,
    videoRange: null,
    maxRate,
    channels: null,
    language: null,
    label: null,
    role: null,
  }));
  const audio = encode.audio.map(({ name, index, channels }) => {
    const {
      language = null,
      label = null,
      role = null,
    } = facts.audioTracks.find((track) => track.index === index) ?? {};
    return {
      name,
      width: null,
      height: null,
      frameRate: null,
      videoRange: null,
      maxRate: channels * CHANNEL_RATE,
      channels,
      language,
      label,
      role,
    };
  });
  return [...video, ...audio].flatMap(({ maxRate, ...rendition }) => {
    const codecs = started[rendition.name]?.codecs;
    const bandwidth = Math.ceil((maxRate * PACKAGINGS[encode.packaging].bytesFor100) / 100);
    return codecs === undefined ? [] : [{ ...rendition, codecs, bandwidth, averageBandwidth: bandwidth }];
  });
}

/** The segments of a rendition as its playlist lists them before they are stored; undefined if the plan does not have it. */
export function plannedSegments(video: PlannedVideo, name: RenditionName): RenditionSegments | undefined {
  const { encode } = video;
  const durations = durationsOf(video, name);
  if (durations === undefined) return undefined;
  const all = [...encode.videoRenditions, ...encode.audio].map(
    (rendition) => durationsOf(video, rendition.name) ?? [],
  );
  return {
    packaging: encode.packaging,
    durations,
    targetDuration: targetDurationOf(all.map((of) => of.map((duration) => ({ duration })))),
  };
}

function durationsOf({ encode, segmentStarts }: PlannedVideo, name: RenditionName): number[] | undefined {
  if (encode.videoRenditions.some((rendition) => rendition.name === name)) {
    const { numerator, denominator } = encode.frameRate;
    return between(segmentStarts, encode.frames).map((frames) => (frames * denominator) / numerator);
  }
  const audio = encode.audio.find((rendition) => rendition.name === name);
  if (audio === undefined) return undefined;
  return between(audioSegmentStarts(encode, audio.end), audio.end);
}

function between(starts: readonly number[], end: number): number[] {
  return starts.map((start, at) => (starts[at + 1] ?? end) - start);
}

/** The number of the task that produces a segment; undefined if the plan does not have the segment. */
export function taskOf(video: PlannedVideo, name: RenditionName, sequence: number): number | undefined {
  if (sequence >= (durationsOf(video, name)?.length ?? 0)) return undefined;
  const { encode, tasks } = video;
  if (tasks.length === 0) return PLANNING_TASK;
  const isCopy = encode.copiesVideo && name === encode.videoRenditions.at(-1)?.name;
  const found = tasks.findIndex((task) => makesSegment(task, { rendition: name, sequence, isCopy }));
  return found === -1 ? undefined : taskNumber(found);
}
