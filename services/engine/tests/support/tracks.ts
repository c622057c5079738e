import type { AudioPlan, EncodePlan } from '@framelane/contracts/transcode-plan';
import { BT709 } from '../../src/plan/colour.ts';
import { planImages } from '../../src/plan/images.ts';
import { planLadder } from '../../src/plan/ladder.ts';
import type { AudioTrack, VideoTrack } from '../../src/source/media-source.ts';

/** An H.264 track that allows a stream copy. */
export function videoTrack(changes: Partial<VideoTrack> = {}): VideoTrack {
  return {
    index: 0,
    codec: 'h264',
    profile: 'High',
    level: 30,
    encrypted: false,
    isDefault: true,
    coded: { width: 640, height: 360 },
    display: { width: 640, height: 360 },
    squarePixels: true,
    turn: [],
    interlaced: false,
    scanTypeUnknown: false,
    pixelFormat: 'yuv420p',
    fullRange: false,
    dynamicRange: 'sdr',
    colorMatrix: 'bt709',
    colorPrimaries: 'bt709',
    colorTransfer: 'bt709',
    needsDolbyVision: false,
    declaredRate: { numerator: 25, denominator: 1 },
    declaredDuration: null,
    isIndexed: true,
    ...changes,
  };
}

/** An AAC track that allows a stream copy. */
export function audioTrack(changes: Partial<AudioTrack> = {}): AudioTrack {
  return {
    index: 1,
    codec: 'aac',
    profile: 'LC',
    encrypted: false,
    isDefault: true,
    sampleRate: 48_000,
    channels: 2,
    language: null,
    title: null,
    role: null,
    declaredDuration: null,
    ...changes,
  };
}

/** The encoded stereo rendition of a track that is two seconds long. */
export function audioPlan(changes: Partial<AudioPlan> = {}): AudioPlan {
  return {
    name: 'audio',
    index: 0,
    channels: 2,
    method: { samples: 95_232 },
    end: 1.984,
    late: false,
    downmix: false,
    decodeToStereo: false,
    ...changes,
  };
}

/** Two seconds of video in two renditions and audio, all encoded. */
export function encodePlan(changes: Partial<EncodePlan> = {}): EncodePlan {
  return {
    videoIndex: 1,
    lead: 0,
    firstFrame: 0,
    audio: [audioPlan()],
    videoRenditions: planLadder({ width: 854, height: 480 }, 25),
    copiesVideo: false,
    packaging: 'ts',
    startsShort: true,
    segmentSeconds: 6,
    frameRate: { numerator: 25, denominator: 1 },
    frames: 50,
    duration: 2,
    sourceRate: 25,
    deinterlace: null,
    coded: { width: 854, height: 480 },
    turn: [],
    dynamicRange: 'sdr',
    pixelsCompatible: false,
    assumedMatrix: null,
    inputIssues: [],
    colour: BT709,
    tagged: { colorMatrix: null, colorPrimaries: null, colorTransfer: null },
    images: planImages({ width: 854, height: 480 }, 2, 1.96),
    ...changes,
  };
}
