import type { Task } from '@framelane/contracts/outputs/tasks';
import type { PackagingName } from '@framelane/contracts/packaging';
import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';

/** What an uploaded file says of itself: how many segments its video has, and in how many pieces it can be made. None is no video. */
export type SourceModel = { segments: number; pieces: number };

export const SEGMENT_SECONDS = 6;
const FRAME_RATE = 25;
const SEGMENT_FRAMES = SEGMENT_SECONDS * FRAME_RATE;

/** The plan of a source: one video rendition and audio; in pieces if it has several and may be cut. */
export function modelPlan(
  { segments, pieces }: SourceModel,
  { packaging, mayCut }: { packaging: PackagingName; mayCut: boolean },
): TranscodePlan {
  const duration = segments * SEGMENT_SECONDS;
  const size = { width: 640, height: 360 };
  return {
    version: PLAN_VERSION,
    revision: 0,
    encode: {
      videoIndex: 0,
      lead: 0,
      firstFrame: 0,
      audio: [
        {
          name: 'audio',
          index: 1,
          channels: 2,
          method: { samples: duration * 48_000 },
          late: false,
          downmix: false,
          decodeToStereo: false,
          end: duration,
        },
      ],
      videoRenditions: [{ ...size, name: '360p', maxRate: 800_000, frameStep: 1 }],
      copiesVideo: false,
      packaging,
      startsShort: false,
      segmentSeconds: SEGMENT_SECONDS,
      frameRate: { numerator: FRAME_RATE, denominator: 1 },
      frames: duration * FRAME_RATE,
      sourceRate: FRAME_RATE,
      duration,
      coded: size,
      turn: [],
      deinterlace: null,
      dynamicRange: 'sdr',
      colour: { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' },
      pixelsCompatible: true,
      tagged: { colorMatrix: null, colorPrimaries: null, colorTransfer: null },
      assumedMatrix: null,
      images: { posterFrom: 0, storyboard: null },
      inputIssues: [],
    },
    alternatives: [],
    encoder: { preset: 'veryfast', threads: 1 },
    iFrames: false,
    facts: {
      source: {
        container: 'matroska',
        videoCodec: 'h264',
        audioCodec: 'aac',
        frameRate: FRAME_RATE,
        ...size,
        duration,
      },
      audioTracks: [{ index: 1, language: 'de', label: 'Deutsch', role: null }],
      captions: [],
      chapters: [],
    },
    optionalTasks: [],
    segmentStarts: Array.from({ length: segments }, (_, at) => at * SEGMENT_FRAMES),
    tasks: mayCut && pieces > 1 ? tasksOf(segments, pieces) : [],
  };
}

function tasksOf(segments: number, pieces: number): Task[] {
  const perPiece = Math.ceil(segments / pieces);
  const firsts = Array.from({ length: Math.ceil(segments / perPiece) }, (_, piece) => piece * perPiece);
  return [
    { kind: 'audio' },
    { kind: 'images', keyFramesOnly: true },
    ...firsts.map((first) => pieceTask(first, Math.min(perPiece, segments - first))),
  ];
}

function pieceTask(firstSegment: number, count: number): Task {
  const firstFrame = firstSegment * SEGMENT_FRAMES;
  const starts = Array.from({ length: count }, (_, at) => firstFrame + at * SEGMENT_FRAMES);
  return {
    kind: 'piece',
    firstSegment,
    firstFrame,
    frames: count * SEGMENT_FRAMES,
    firstIFrame: 0,
    iFrames: 0,
    seek: null,
    segmentStarts: starts,
    keyFrames: starts,
  };
}
