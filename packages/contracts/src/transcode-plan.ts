import { z } from 'zod';
import { HARDWARE } from './hardware.ts';
import { captionsTrack, chapter, inputIssue, MAX_CHAPTERS, sourceFacts } from './manifest.ts';
import { imagesPlan } from './outputs/images.ts';
import { frameNumber } from './outputs/piece-task.ts';
import { optionalTaskSchema, taskSchema } from './outputs/tasks.ts';
import { PACKAGING_NAMES } from './packaging.ts';
import {
  ALTERNATIVE_CODECS,
  type AlternativeCodec,
  AUDIO_RENDITIONS,
  AUDIO_ROLES,
  SURROUND_RENDITIONS,
  VIDEO_RENDITIONS,
} from './renditions.ts';
import { watermarkPlan } from './watermark.ts';

/** Version of plans. Increase it when engines of the two versions would make different segments from the same plan. */
export const PLAN_VERSION = 9;

/** Width and height in pixels. */
const size = z.object({ width: z.int().positive(), height: z.int().positive() });

/** Frames a second as a fraction, as ffmpeg reads and writes it. */
const frameRate = z.object({ numerator: z.int().positive(), denominator: z.int().positive() });

/** How to make one video rendition. */
const videoRenditionPlan = size.extend({
  name: z.enum(VIDEO_RENDITIONS),
  /** Maximum bit rate in bits per second, averaged over the decoder buffer. */
  maxRate: z.int().positive(),
  /** 2 if the rendition has every second frame of the video, else 1. */
  frameStep: z.literal([1, 2]),
});
export type VideoRenditionPlan = z.infer<typeof videoRenditionPlan>;

/** How to make one audio rendition. */
const audioPlan = z.object({
  name: z.enum([...AUDIO_RENDITIONS, ...SURROUND_RENDITIONS]),
  /** The track that it is made from. */
  index: z.int().nonnegative(),
  /** 6 is 5.1. */
  channels: z.literal([1, 2, 6]),
  /** The number of samples to encode, or the number of frames to copy. */
  method: z.union([z.object({ samples: z.int() }), z.object({ copiedFrames: z.int() })]),
  /**
   * Whether the audio starts more than one second after the video. Its filters then get a filter graph of their own, because a shared graph
   * would hold back video frames until the first audio frame.
   */
  late: z.boolean(),
  /** The second from which the edit list of the track shows nothing. ffmpeg has its beginning there. */
  silentFrom: z.number().nonnegative().optional(),
  /** The track has no sound within the output. The rendition is then not made from it. */
  silent: z.literal(true).optional(),
  /** Whether the source has more channels, which are mixed down. */
  downmix: z.boolean(),
  /** Whether the decoder mixes to stereo. Filters cannot if the number of channels changes within the file. */
  decodeToStereo: z.boolean(),
  /** The second at which the audio ends. */
  end: z.number(),
});
export type AudioPlan = z.infer<typeof audioPlan>;

/** The ffmpeg filters that rotate or mirror frames as a display matrix demands; empty if frames are displayed as coded. */
const turn = z
  .array(
    z.enum([
      'transpose=clock',
      'transpose=cclock',
      'transpose=clock_flip',
      'transpose=cclock_flip',
      'hflip',
      'vflip',
    ]),
  )
  .readonly();
export type Turn = z.infer<typeof turn>;

/** The transfer function of a track: standard range, or one of the two of high dynamic range. */
const dynamicRange = z.enum(['sdr', 'pq', 'hlg']);
export type DynamicRange = z.infer<typeof dynamicRange>;

/** Renditions with 10 bits a sample, and their dynamic range. Absent for 8 bits and the standard range. */
const tenBit = z.object({ range: dynamicRange });
export type TenBit = z.infer<typeof tenBit>;

/** The transfer functions of high dynamic range in renditions that keep it (ITU-R BT.2100). */
const HDR_TRANSFERS = { pq: 'smpte2084', hlg: 'arib-std-b67' } as const;

/** The colour space of a video, by ffmpeg's names for the code points of ITU-T H.273. */
const colour = z.object({ matrix: z.string(), primaries: z.string(), transfer: z.string() });
export type Colour = z.infer<typeof colour>;

/** How far into a file ffmpeg looks for tracks and their parameters. */
const analysis = z.object({ seconds: z.int().positive(), bytes: z.int().positive() });
export type Analysis = z.infer<typeof analysis>;

/** How ffmpeg reads the source, where its defaults do not suffice. */
const reading = z.object({
  /**
   * Earliest timestamp of the tracks in seconds. Only for formats in which ffmpeg takes the earliest timestamp of the mapped tracks for zero:
   * each task maps other tracks.
   */
  startTime: z.number().optional(),
  /** Timestamps that jump ahead by at most this many seconds are a pause of a track. ffmpeg takes a larger jump for a restart of the clock. */
  maxPauseSeconds: z.number().positive().optional(),
  /** The second of the file at which runs begin to read, unless a piece says another one. Only for a trimmed video that does not need what is before. */
  seek: z.number().positive().optional(),
  /**
   * Seconds from the earliest timestamp of the file to the first key frame of the video, which takes the place of the frames before it. ffmpeg
   * shows those in grey, because they refer to frames that the file does not have.
   */
  firstPicture: z.number().positive().optional(),
  /** How far into the file ffmpeg must look for the tracks in use, by kind. A run that reads one kind need not find the others. */
  analysis: z.object({ video: analysis, audio: analysis, text: analysis }).optional(),
});
export type Reading = z.infer<typeof reading>;

/** Frames a second of sound alone: its frames are samples at the rate of encoded audio. So each second has a whole number of them. */
export const SOUND_FRAME_RATE = 48_000;

/**
 * How to transcode one source: all decisions that the ffmpeg command line needs. Sound alone has no video renditions. The fields about the
 * pixels of frames have no effect then, except the size.
 */
const encodePlan = z.object({
  /** The video track; null for sound alone. */
  videoIndex: z.int().nonnegative().nullable(),
  reading: reading.optional(),
  /**
   * Seconds subtracted from all timestamps, so that the first frame is on the frame grid of the output: at zero, unless the video starts
   * late. May be negative. If the video is trimmed, it contains the frames before the first one.
   */
  lead: z.number(),
  /** The number of frames before the first one of the output that a trim cuts off. */
  firstFrame: z.int().nonnegative(),
  /** The renditions of the audio tracks in mono or stereo, the default one first, then those in 5.1. */
  audio: z.array(audioPlan).readonly(),
  /** Lowest first. */
  videoRenditions: z.array(videoRenditionPlan).readonly(),
  /** Whether the top rendition is a stream copy of the source. All renditions are then cut at the source's key frames. */
  copiesVideo: z.boolean(),
  /**
   * The codec beside H.264 whose top rendition is a stream copy of the source. All renditions then have key frames after a fixed number of frames, where
   * the source has some, too. Absent if no such rendition is a copy.
   */
  copiedAlternative: z.enum(ALTERNATIVE_CODECS).optional(),
  packaging: z.enum(PACKAGING_NAMES),
  /** How segments are cut (see `Cuts`). */
  startsShort: z.boolean(),
  segmentSeconds: z.number().positive(),
  /**
   * The key frames, as frames of the top rendition, if some segments have one at their beginning alone. Absent if the source determines them, or there
   * is one every two seconds.
   */
  keyFrames: z.array(frameNumber).readonly().optional(),
  /** Frame rate of the top rendition, or of sound alone (see `SOUND_FRAME_RATE`). */
  frameRate,
  /** Exact number of frames of the top rendition, or of sound alone. */
  frames: z.int().positive(),
  /** Frames per second of the source. Two fields count as one frame. Null for sound alone. */
  sourceRate: z.number().nullable(),
  /** Seconds of the output. */
  duration: z.number(),
  /** Coded size of the first frames. Later frames may differ. For sound alone, the size of the picture that becomes its poster. */
  coded: size,
  turn,
  /** How to deinterlace: one output frame per frame, or one per field. Null if no frame is interlaced. */
  deinterlace: z.enum(['send_frame', 'send_field']).nullable(),
  dynamicRange,
  /** Colour of all renditions. */
  colour,
  tenBit: tenBit.optional(),
  /** Whether frames need scaling only: they are 8-bit 4:2:0, BT.709, limited range, with even width and height. */
  pixelsCompatible: z.boolean(),
  /** Colour tags of the file; null for a missing one. */
  tagged: z.object({
    colorMatrix: z.string().nullable(),
    colorPrimaries: z.string().nullable(),
    colorTransfer: z.string().nullable(),
  }),
  /** The colour matrix to assume for an untagged file; null for a tagged one. */
  assumedMatrix: z.enum(['bt601', 'bt709']).nullable(),
  /** Shown in all renditions and images, which are then all encoded. */
  watermark: watermarkPlan.optional(),
  images: imagesPlan,
  inputIssues: z.array(inputIssue),
});
export type EncodePlan = z.infer<typeof encodePlan>;

/** The renditions of a video in a codec that it does not wait for: those of all its rungs, lowest first. */
const alternativeLadder = z.object({
  codec: z.enum(ALTERNATIVE_CODECS),
  videoRenditions: z.array(videoRenditionPlan).min(1).readonly(),
  tenBit: tenBit.optional(),
});
export type AlternativeLadder = z.infer<typeof alternativeLadder>;

/** Whether a plan makes sound alone. */
export function isSoundAlone({ videoRenditions }: Pick<EncodePlan, 'videoRenditions'>): boolean {
  return videoRenditions.length === 0;
}

/** The facts in a manifest apart from the renditions and images. They are known when a video is planned. */
const videoFacts = z.object({
  source: sourceFacts,
  /** The source tracks of the audio renditions. */
  audioTracks: z
    .array(
      z.object({
        index: z.int().nonnegative(),
        /** BCP 47; null if the source has no language tag. */
        language: z.string().nullable(),
        label: z.string(),
        role: z.enum(AUDIO_ROLES).nullable(),
      }),
    )
    .readonly(),
  captions: z.array(captionsTrack),
  chapters: z.array(chapter).max(MAX_CHAPTERS),
});
export type VideoFacts = z.infer<typeof videoFacts>;

/**
 * The plan of an attempt, made by one engine. It contains all decisions, so engines with other settings make the same segments.
 */
export const transcodePlanSchema = z.object({
  version: z.literal(PLAN_VERSION),
  /** The number of plans that this one replaces. The engine replaces a plan without tasks if it cannot make the video as planned. */
  revision: z.int().nonnegative(),
  encode: encodePlan,
  /** What follows when the video is ready, made by optional tasks. */
  alternatives: z.array(alternativeLadder).readonly(),
  /**
   * Settings of the engine that made the plan: the preset of the encoders, and the number of threads of the filters and of each encoder. That number
   * changes the result: scaled frames differ where the parts of two threads meet. `hardware` is the interface of the device that encodes video,
   * instead of software. Such a plan has no tasks: another engine, with another device, would make other parameter sets.
   */
  encoder: z.object({
    preset: z.string(),
    threads: z.int().positive(),
    hardware: z.enum(HARDWARE).optional(),
  }),
  /** Whether the I-frames of the lowest rendition are stored. */
  iFrames: z.boolean(),
  facts: videoFacts,
  /** The first frame of each segment of the video. Frames are counted as in a piece. */
  segmentStarts: z.array(frameNumber).min(1).readonly(),
  /** Empty if the video is short or cannot be cut: then the planning engine makes all outputs. */
  tasks: z.array(taskSchema).readonly(),
  /** The tasks of outputs that the video does not wait for. They can go on after the video is ready, and their failure is theirs. */
  optionalTasks: z.array(optionalTaskSchema).readonly(),
});
export type TranscodePlan = z.infer<typeof transcodePlanSchema>;

/** The part of the plan that every task needs. */
export const taskPlanSchema = transcodePlanSchema.omit({ facts: true, tasks: true, optionalTasks: true });
export type TaskPlan = z.infer<typeof taskPlanSchema>;

/** How to transcode the source in another codec: its renditions alone. Throws if the plan does not have that codec. */
export function encodePlanIn(
  codec: AlternativeCodec,
  { encode, alternatives }: Pick<TranscodePlan, 'encode' | 'alternatives'>,
): EncodePlan {
  const ladder = alternatives.find((each) => each.codec === codec);
  if (ladder === undefined) throw new Error(`The plan has no renditions in ${codec}`);
  const { videoRenditions, tenBit } = ladder;
  return {
    ...encode,
    videoRenditions,
    copiesVideo: encode.copiedAlternative === codec,
    audio: [],
    ...(tenBit && { tenBit, colour: colourOf(tenBit, encode) }),
  };
}

function colourOf({ range }: TenBit, { colour }: EncodePlan): Colour {
  if (range === 'sdr') return colour;
  return { matrix: 'bt2020nc', primaries: 'bt2020', transfer: HDR_TRANSFERS[range] };
}
