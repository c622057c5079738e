import type { InputIssue } from '@framelane/contracts/manifest';
import { AAC_FRAME_SAMPLES } from '../source/audio-scan.ts';
import { containerTraits } from '../source/containers.ts';
import { type FrameRate, toNumber } from '../source/frame-rate.ts';
import {
  type AudioTrack,
  type DynamicRange,
  describeTrack,
  type Size,
  type VideoTrack,
} from '../source/media-source.ts';
import type { Turn } from '../source/orientation.ts';
import type { ProbedSource } from '../source/probe.ts';
import { BT709, type Colour, hasOtherPrimaries, ownColour, usualMatrix } from './colour.ts';
import { deliveryFrameRate, fieldRate, isNear } from './frame-rate.ts';
import { type ImagesPlan, planImages } from './images.ts';
import { DEFAULT_MAX_RATES, type MaxRates, planLadder, type Rung } from './ladder.ts';
import { checkAudioPassthrough, checkVideoPassthrough, type Obstacle } from './passthrough.ts';

/** The rate audio is encoded at. */
export const AUDIO_SAMPLE_RATE = 48_000;

/** Seconds in a segment (HLS authoring specification 7.5). */
const SEGMENT_SECONDS = 6;

/**
 * Sound that begins this little before the picture is cut, so that no picture has to stand in for none. Mostly it is what
 * the encoder put in front.
 */
const LONGEST_LEAD_SECONDS = 0.1;

/** Its fields are pictures of their own, with no other between their lines; the decoder calls each of them interlaced. */
const CODEC_OF_SINGLE_FIELDS = 'hevc';

/** A file that lacks more than this part of the time it declares was cut off. */
const TRUNCATED_PART = 0.05;

/** What is made of the sound. */
export type AudioPlan = {
  index: number;
  /** So many samples are encoded, or so many frames of the source's own kept. */
  make: { samples: number } | { passthroughFrames: number };
  /** Whether it has more than two channels, of which stereo is made. */
  downmix: boolean;
  /** Whether the decoder makes stereo of it: of sound that changes its channels, filters cannot. */
  decodeToStereo: boolean;
  /** Seconds at which it ends. */
  end: number;
};

/** Everything ffmpeg is told about one video. */
export type EncodePlan = {
  videoIndex: number;
  /** Seconds by which picture and sound come earlier than in the file, so that a frame begins at zero. */
  lead: number;
  audio: AudioPlan | null;
  /** Lowest first. */
  rungs: readonly Rung[];
  /** Whether the top rung is the source's own video, at whose key frames all rungs are cut then. */
  videoPassthrough: boolean;
  /** Why a track that might have been kept is encoded; null for what is kept, or not there. */
  obstacles: { video: Obstacle | 'failed' | null; audio: Obstacle | 'failed' | null };
  /** Segments end at the first key frame after each multiple of so many seconds. */
  segmentSeconds: number;
  /** Of the top rung. */
  frameRate: FrameRate;
  /** Frames of the top rung: exactly so many. */
  frames: number;
  /** Frames a second of the source; interlaced pictures are counted whole. */
  sourceRate: number;
  /** Seconds delivered. */
  duration: number;
  /** Pixels as coded, to which the first pictures hold; later ones may not. */
  coded: Size;
  turn: Turn;
  /** What pictures that are interlaced become: a frame each, or one of each of their fields. Null where none are. */
  deinterlace: 'send_frame' | 'send_field' | null;
  dynamicRange: DynamicRange;
  /** Of all rungs. */
  colour: Colour;
  /** Whether pictures are as they are delivered but for their size: 8-bit 4:2:0 in these colours and limited range, of even sides. */
  pixelsCompatible: boolean;
  /** What the file says of its colours; null where it says nothing. */
  tagged: Pick<VideoTrack, 'colorMatrix' | 'colorPrimaries' | 'colorTransfer'>;
  /** Matrix to assume where the file names none. */
  assumedMatrix: 'bt601' | 'bt709' | null;
  images: ImagesPlan;
  /** Repairs the owner is told of. */
  inputIssues: InputIssue[];
};

/**
 * Decides what is made of a source.
 *
 * @param allowPassthrough false once it has turned out that the source's own packets do not make proper segments
 */
export function planEncoding(
  source: ProbedSource,
  allowPassthrough: boolean,
  maxRates: MaxRates = DEFAULT_MAX_RATES,
): EncodePlan {
  const { container, video, audio, timeline, gops, audioFrames } = source;
  const { pictureRate, frameRate, deinterlace } = planRate(source);
  const framesPerSecond = toNumber(frameRate);
  const lead = leadOf(timeline.start, framesPerSecond);
  const frames = Math.max(1, Math.round((timeline.duration - lead) * framesPerSecond));
  const duration = frames / framesPerSecond;
  const rungs = planLadder(video.display, framesPerSecond, maxRates);
  const [top] = rungs.slice(-1);
  const failed = { passthrough: null, obstacle: 'failed' } as const;
  const frameStep = Math.max(...rungs.map((rung) => rung.frameStep));
  const ownVideo =
    allowPassthrough && top
      ? checkVideoPassthrough({ container, video, gops, top, frameStep, frameRate, duration })
      : failed;
  const videoPassthrough = ownVideo.passthrough !== null;
  const ownAudio =
    audio &&
    (allowPassthrough
      ? checkAudioPassthrough({ container, audio, frames: audioFrames, lead, duration })
      : failed);
  return {
    videoIndex: video.index,
    lead,
    audio: audio && audioPlan(audio, ownAudio?.passthrough ?? null, duration),
    rungs,
    videoPassthrough,
    obstacles: { video: ownVideo.obstacle, audio: ownAudio?.obstacle ?? null },
    segmentSeconds: ownVideo.passthrough?.segmentSeconds ?? SEGMENT_SECONDS,
    frameRate,
    frames,
    duration,
    sourceRate: sourceRate(source, pictureRate),
    coded: video.coded,
    turn: video.turn,
    deinterlace,
    dynamicRange: video.dynamicRange,
    colour: videoPassthrough ? ownColour(video) : BT709,
    pixelsCompatible: videoPassthrough || pixelsCompatible(video),
    tagged: video,
    assumedMatrix: video.colorMatrix === null ? usualMatrix(video) : null,
    images: planImages(video.display, duration, lastFrame(frames, frameStep) / framesPerSecond),
    inputIssues: inputIssues(source, toNumber(pictureRate), lead),
  };
}

/** Whether anything of the source is delivered as it is. */
export function hasPassthrough({ videoPassthrough, audio }: EncodePlan): boolean {
  return videoPassthrough || (audio !== null && 'passthroughFrames' in audio.make);
}

/** The rate of the source's pictures as they are delivered if each is a frame, that of the top rung, and what becomes of fields. */
function planRate({ container, video, timeline }: ProbedSource) {
  const { averageRate: average } = timeline;
  // Its frames are on the grid of its fields, of which some are shown twice; no frame lasts less than two.
  const grid = video.codec === 'mpeg2video' ? null : timeline.grid;
  const pictureRate = deliveryFrameRate({ average, declared: video.declaredRate, grid });
  if (!mayShowFields(container, video)) return { pictureRate, frameRate: pictureRate, deinterlace: null };
  // Without a declared rate, filters do not know how long the last field is.
  const fields = video.interlaced && video.declaredRate ? fieldRate(pictureRate) : null;
  if (!fields) return { pictureRate, frameRate: pictureRate, deinterlace: 'send_frame' } as const;
  return { pictureRate, frameRate: fields, deinterlace: 'send_field' } as const;
}

function sourceRate({ timeline }: ProbedSource, pictureRate: FrameRate): number {
  const rate = toNumber(pictureRate);
  return isNear(rate, timeline.averageRate) ? rate : timeline.averageRate;
}

function mayShowFields(container: string, { codec, interlaced }: VideoTrack): boolean {
  if (codec === CODEC_OF_SINGLE_FIELDS) return false;
  return interlaced || containerTraits(container).scanTypeMayChange;
}

/** Where frames of a constant rate are put by what is nearest, the first must not be in between. */
function leadOf(start: number, framesPerSecond: number): number {
  if (start <= 0) return 0;
  const lead =
    start < LONGEST_LEAD_SECONDS ? start : start - Math.round(start * framesPerSecond) / framesPerSecond;
  return Number(lead.toFixed(6));
}

function audioPlan(
  { index, channels }: AudioTrack,
  own: { frames: number; end: number } | null,
  duration: number,
): AudioPlan {
  const track = { index, downmix: channels > 2, decodeToStereo: false };
  if (own) return { ...track, make: { passthroughFrames: own.frames }, end: own.end };
  const samples = audioSamples(duration);
  return { ...track, make: { samples }, end: samples / AUDIO_SAMPLE_RATE };
}

/**
 * Samples of audio that end with the video, or less than one AAC frame before it. The encoder adds one frame in front
 * and delivers whole frames only; never one that begins at or after the end, which could be a segment of its own.
 */
function audioSamples(duration: number): number {
  const samples = Math.round(duration * AUDIO_SAMPLE_RATE);
  return AAC_FRAME_SAMPLES * Math.max(1, Math.ceil(samples / AAC_FRAME_SAMPLES) - 1);
}

/** The number of the last frame that a rung has of which every so-manieth is delivered. */
function lastFrame(frames: number, frameStep: number): number {
  return frames - 1 - ((frames - 1) % frameStep);
}

function pixelsCompatible(video: VideoTrack): boolean {
  const { pixelFormat, fullRange, dynamicRange, colorMatrix, coded } = video;
  const matrix = colorMatrix ?? usualMatrix(video);
  const isEven = coded.width % 2 === 0 && coded.height % 2 === 0;
  const isBt709 = dynamicRange === 'sdr' && matrix === 'bt709' && !hasOtherPrimaries(video);
  return pixelFormat === 'yuv420p' && !fullRange && isBt709 && isEven;
}

function inputIssues(source: ProbedSource, framesPerSecond: number, lead: number): InputIssue[] {
  const { video, audio, timeline } = source;
  const { averageRate } = timeline;
  const [end, declaredEnd] =
    video.declaredDuration === null
      ? [source.end, source.declaredDuration]
      : [timeline.duration, video.declaredDuration];
  const issues: [boolean, InputIssue][] = [
    [video.interlaced, { code: 'interlaced', message: 'Interlaced video was made progressive.' }],
    [
      video.dynamicRange !== 'sdr',
      { code: 'hdr', message: 'High dynamic range was mapped to standard range.' },
    ],
    [
      /(p|gray|gbr\w*)(9|1[0246])(le|be)?$|^p01\d/.test(video.pixelFormat),
      { code: 'high_bit_depth', message: 'The picture was reduced to 8 bits a sample.' },
    ],
    [
      /4(22|44|40)|rgb|gbr|bgr/.test(video.pixelFormat),
      { code: 'chroma_subsampling', message: 'Colour was reduced to 4:2:0.' },
    ],
    [
      Math.abs(averageRate - framesPerSecond) > framesPerSecond * 0.01 &&
        Math.abs(timeline.frames - (timeline.duration - lead) * framesPerSecond) > 1.5,
      {
        code: 'frame_rate_changed',
        message: `The frame rate was changed from ${averageRate.toFixed(2)} to ${framesPerSecond.toFixed(2)}.`,
      },
    ],
    [
      (declaredEnd ?? 0) > end * (1 + TRUNCATED_PART),
      {
        code: 'truncated',
        message: `The file ends after ${end.toFixed(1)} of ${declaredEnd?.toFixed(1)} seconds.`,
      },
    ],
    [
      (audio?.channels ?? 0) > 2,
      { code: 'audio_downmixed', message: `${audio?.channels} channels of sound were mixed down to stereo.` },
    ],
  ];
  const leftOut = source.leftOut.map(
    (track): InputIssue => ({
      code: 'track_left_out',
      message: `Track ${describeTrack(track)} was left out.`,
    }),
  );
  return [...issues.filter(([applies]) => applies).map(([, issue]) => issue), ...leftOut];
}
