import { PACKAGING_NAMES } from '@framelane/contracts/packaging';
import {
  type AlternativeCodec,
  PLAIN_CODEC,
  type RenditionName,
  type VideoCodec,
  type VideoRendition,
} from '@framelane/contracts/renditions';
import type { Cuts } from '@framelane/contracts/segment-times';
import type { EncodePlan, VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { encoderOfCodec } from '../encoders/encoders.ts';
import type { PictureChanges } from '../source/change-scan.ts';
import { mayRepeatFields, storesFields } from '../source/codec-traits.ts';
import { containerTraits } from '../source/containers.ts';
import { type FrameRate, toNumber } from '../source/frame-rate.ts';
import type { VideoTrack } from '../source/media-source.ts';
import type { Timeline } from '../source/packet-timeline.ts';
import { isSound, type ProbedSource, type ProbedVideo } from '../source/probe.ts';
import { checkAlternativeCopy } from './alternative-copy.ts';
import { fittingCodecs, inCodec } from './alternatives.ts';
import { audioPlans } from './audio-plan.ts';
import { BT709, hasOtherPrimaries, ownColour, usualMatrix } from './colour.ts';
import { ENCODED_CUTS, type ExplainedPlan, type PlanSettings } from './explained-plan.ts';
import { fieldRate, isNear, outputFrameRate, phaseAt } from './frame-rate.ts';
import { planImages } from './images.ts';
import { inputIssues } from './input-issues.ts';
import { planKeyFrames } from './key-frames.ts';
import { DEFAULT_MAX_RATES, planLadder, stillLadder } from './ladder.ts';
import { seekOf } from './seek.ts';
import { planSound } from './sound-plan.ts';
import { isStillThroughout } from './stillness.ts';
import {
  averageRate,
  checkAudioCopy,
  checkVideoCopy,
  type Verdict,
  type VideoCopyFacts,
} from './stream-copy.ts';
import { partOf } from './trim.ts';

/**
 * If the audio starts less than this many seconds before the video, its start is cut: it is usually encoder delay. If it starts
 * earlier, the first frame is repeated until the video starts.
 */
const MAX_LEAD_SECONDS = 0.1;

/** bwdif needs three columns and four lines of each colour component. Smaller frames are not deinterlaced. */
const MIN_INTERLACED_SIDE = 16;

/**
 * Decides how to transcode a source.
 *
 * `allowCopy` is false after a run has shown that the packets of the source do not form valid segments.
 */
export function planEncoding(
  source: ProbedSource,
  {
    allowCopy,
    packaging = PACKAGING_NAMES[0],
    maxRates = DEFAULT_MAX_RATES,
    codecs = [],
    surround = false,
    watermark,
    trim,
  }: { allowCopy: boolean } & Partial<PlanSettings>,
): ExplainedPlan {
  if (isSound(source)) return planSound(source, { allowCopy, packaging, surround, trim });
  const { container, video, timeline, gops } = source;
  const { sourceFrameRate, frameRate, deinterlace } = planRate(source);
  const framesPerSecond = toNumber(frameRate);
  // Only times on a grid lose the same frames again. Moving others would cost the copy of the audio, and often gain nothing.
  const phase = timeline.grid ? phaseAt(frameRate, timeline.losses) : 0;
  const sourceLead = leadOf(timeline, framesPerSecond, phase);
  const sourceFrames = Math.max(1, Math.round((timeline.duration - sourceLead) * framesPerSecond));
  const ladder = planLadder(video.display, framesPerSecond, maxRates);
  const whole = { lead: sourceLead, frameRate, frames: sourceFrames, videoRenditions: ladder };
  const { isTrimmed, endsAt, ...part } = partOf(whole, trim);
  const { lead, firstFrame, frames, duration } = part;
  const [top] = ladder.slice(-1);
  const failed = { copy: null, obstacle: 'failed' } as const;
  const frameStep = Math.max(...ladder.map((rendition) => rendition.frameStep));
  const copy =
    allowCopy && top
      ? checkCopy(fittingCodecs(codecs, ladder), {
          container,
          video,
          gops,
          top,
          frameStep,
          frameRate,
          duration: sourceFrames / framesPerSecond,
        })
      : failed;
  const preventedBy = copy.copy && preventionOf({ watermark, isTrimmed });
  const ownVideo = preventedBy ? ({ copy: null, obstacle: preventedBy } as const) : copy;
  const isStill = isStillThroughout(source.changes, { from: lead, to: lead + duration });
  const videoRenditions = isStill ? stillRenditions(ownVideo.copy, gops, ladder) : ladder;
  const cuts = cutsOf(ownVideo.copy, { lead, frameRate, frames, videoRenditions }, source.changes);
  const { copiesVideo } = cuts;
  const ownAudio = source.audio.map((audio) =>
    allowCopy ? checkAudioCopy({ container, audio, frames: audio.frames, lead, duration }) : failed,
  );
  return {
    videoIndex: video.index,
    reading: { ...source.reading, ...(firstFrame > 0 && { seek: seekOf(source, lead) }) },
    ...part,
    audio: audioPlans(
      source.audio,
      ownAudio.map(({ copy }) => copy),
      { surround, ...part },
    ),
    videoRenditions,
    packaging,
    obstacles: { video: ownVideo.obstacle, audio: ownAudio.map(({ obstacle }) => obstacle) },
    ...cuts,
    frameRate,
    sourceRate: sourceRate(source, sourceFrameRate),
    coded: video.coded,
    turn: video.turn,
    deinterlace,
    dynamicRange: video.dynamicRange,
    colour: copiesVideo ? ownColour(video) : BT709,
    pixelsCompatible: copiesVideo || pixelsCompatible(video),
    tagged: video,
    assumedMatrix: video.colorMatrix === null ? usualMatrix(video) : null,
    images: planImages(video.display, duration, lastFrame(frames, frameStep) / framesPerSecond),
    ...(watermark && { watermark }),
    inputIssues: inputIssues(source, {
      framesPerSecond: toNumber(sourceFrameRate),
      lead: sourceLead,
      surround,
      // They describe H.264.
      copyPreventedBy: copy.copy?.codec === PLAIN_CODEC ? preventedBy : null,
      endsAt,
    }),
  };
}

/**
 * The renditions of still video. A stream copy can have any bit rate: rungs are left out below it only if whoever receives the lowest rung at its maximum
 * rate receives the copy, too.
 */
function stillRenditions(
  copy: CopiedVideo | null,
  gops: ProbedVideo['gops'],
  ladder: readonly VideoRenditionPlan[],
): readonly VideoRenditionPlan[] {
  const lowestRate = ladder[0]?.maxRate ?? 0;
  const isLarge = copy !== null && typeof gops !== 'string' && averageRate(gops) > lowestRate;
  return isLarge ? ladder : stillLadder(ladder);
}

/** What is copied, and how segments are cut. A stream copy in H.264 determines the key frames of all renditions. */
function cutsOf(
  copy: CopiedVideo | null,
  part: Pick<EncodePlan, 'lead' | 'frameRate' | 'frames' | 'videoRenditions'>,
  changes: PictureChanges,
): Cuts & Pick<EncodePlan, 'copiesVideo' | 'copiedAlternative' | 'keyFrames'> {
  if (copy?.codec === PLAIN_CODEC) return { copiesVideo: true, ...copy.cuts };
  const encoded = {
    copiesVideo: false,
    ...(copy && { copiedAlternative: copy.codec }),
    ...(copy?.cuts ?? ENCODED_CUTS),
  };
  const keyFrames = planKeyFrames({ ...encoded, ...part }, changes);
  return { ...encoded, ...(keyFrames && { keyFrames }) };
}

/** A stream copy of the source: its codec, and how all renditions are cut then. */
type CopiedVideo = { cuts: Cuts; codec: VideoCodec };

/** Checks a stream copy in the codec of the source if the video has it, else in that of all videos. `facts.top` is of that one. */
function checkCopy(codecs: readonly AlternativeCodec[], facts: VideoCopyFacts): Verdict<CopiedVideo> {
  const own = codecs.find((each) => encoderOfCodec(each).copyObstacle(facts.video) !== 'codec');
  const codec = own ?? PLAIN_CODEC;
  const check = codec === PLAIN_CODEC ? checkVideoCopy : checkAlternativeCopy;
  const [top = facts.top] = inCodec(codec, [facts.top]);
  const { copy, obstacle } = check({ ...facts, top });
  return copy === null ? { copy, obstacle } : { copy: { cuts: copy, codec }, obstacle: null };
}

/** What the owner of the video has asked for that a stream copy cannot have: a copy of a part would begin and end at key frames. */
function preventionOf({ watermark, isTrimmed }: { watermark: unknown; isTrimmed: boolean }) {
  if (watermark) return 'watermark';
  return isTrimmed ? 'trim' : null;
}

/** The renditions that are encoded, lowest first. */
export function encodedRenditions({
  videoRenditions,
  copiesVideo,
}: EncodePlan): readonly VideoRenditionPlan[] {
  return copiesVideo ? videoRenditions.slice(0, -1) : videoRenditions;
}

/** The rendition whose I-frames are stored: the lowest one. Null without renditions. */
export function iFrameSource(videoRenditions: readonly VideoRenditionPlan[]): VideoRendition | null {
  return videoRenditions[0]?.name ?? null;
}

/** The codec whose top rendition is a stream copy of the source; null if none is. */
export function copiedCodec({ copiesVideo, copiedAlternative }: EncodePlan): VideoCodec | null {
  return copiesVideo ? PLAIN_CODEC : (copiedAlternative ?? null);
}

/** The renditions that are stream copies of tracks of the source. */
export function copiedRenditions({ videoRenditions, copiesVideo, audio }: EncodePlan): Set<RenditionName> {
  const video = copiesVideo ? videoRenditions.slice(-1) : [];
  const copied = audio.filter(({ method }) => 'copiedFrames' in method);
  return new Set([...video, ...copied].map(({ name }) => name));
}

/** The frame rate of the source, the frame rate of the top rendition (higher if each field becomes a frame), and how to deinterlace. */
function planRate({ container, video, timeline }: ProbedVideo) {
  const { averageRate: average, grid, losses } = timeline;
  const repeatsFields = mayRepeatFields(video.codec);
  const { declaredRate: declared } = video;
  const sourceFrameRate = outputFrameRate({ average, declared, grid, repeatsFields, losses });
  if (!mayBeInterlaced(container, video))
    return { sourceFrameRate, frameRate: sourceFrameRate, deinterlace: null };
  // Without a declared rate, the filters do not know the duration of the last field.
  const fields = video.interlaced && video.declaredRate ? fieldRate(sourceFrameRate) : null;
  if (!fields) return { sourceFrameRate, frameRate: sourceFrameRate, deinterlace: 'send_frame' } as const;
  return { sourceFrameRate, frameRate: fields, deinterlace: 'send_field' } as const;
}

function sourceRate({ timeline }: ProbedVideo, sourceFrameRate: FrameRate): number {
  const rate = toNumber(sourceFrameRate);
  return isNear(rate, timeline.averageRate) ? rate : timeline.averageRate;
}

function mayBeInterlaced(container: string, { codec, interlaced, coded }: VideoTrack): boolean {
  if (storesFields(codec) || Math.min(coded.width, coded.height) < MIN_INTERLACED_SIDE) return false;
  return interlaced || containerTraits(container).scanTypeMayChange;
}

/**
 * The fps filter moves each frame to the nearest frame time, so the first frame must start exactly at one, or at the phase at which the
 * fewest frames are lost.
 */
function leadOf({ cut, start }: Timeline, framesPerSecond: number, phase: number): number {
  const wait = Math.max(0, start - cut);
  const first = wait < MAX_LEAD_SECONDS ? wait : wait - Math.round(wait * framesPerSecond) / framesPerSecond;
  return Number((cut + first - phase / framesPerSecond).toFixed(6));
}

/** The index of the last frame that a rendition with this frame step has. */
function lastFrame(frames: number, frameStep: number): number {
  return frameStep * Math.floor((frames - 1) / frameStep);
}

function pixelsCompatible(video: VideoTrack): boolean {
  const { pixelFormat, fullRange, dynamicRange, colorMatrix, coded } = video;
  const matrix = colorMatrix ?? usualMatrix(video);
  const isEven = coded.width % 2 === 0 && coded.height % 2 === 0;
  const isBt709 = dynamicRange === 'sdr' && matrix === 'bt709' && !hasOtherPrimaries(video);
  return pixelFormat === 'yuv420p' && !fullRange && isBt709 && isEven;
}
