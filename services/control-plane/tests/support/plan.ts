import { CLOCK_HZ } from '@framelane/contracts/manifest';
import type { TaskResult } from '@framelane/contracts/outputs/outputs';
import type { StoredRendition } from '@framelane/contracts/outputs/renditions';
import type { Task } from '@framelane/contracts/outputs/tasks';
import { PACKAGINGS, type PackagingName } from '@framelane/contracts/packaging';
import { PLAN_VERSION, type TranscodePlan } from '@framelane/contracts/transcode-plan';

const SEGMENT_SECONDS = 6;
const FRAME_RATE = 25;
const SEGMENT_FRAMES = SEGMENT_SECONDS * FRAME_RATE;

/** The numbers of the tasks of `samplePlan`. */
export const AUDIO = 1;
export const IMAGES = 2;
export const PIECES = [3, 4, 5];

/** The plan of a video with audio and three pieces, each of two segments. */
export function samplePlan(packaging: PackagingName = 'ts'): TranscodePlan {
  const segments = 2 * PIECES.length;
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
      startsShort: true,
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
      images: {
        posterFrom: 0,
        storyboard: { tile: { width: 160, height: 90 }, columns: 6, rows: 6, tiles: 36, interval: 1 },
      },
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
    tasks: [
      { kind: 'audio' },
      { kind: 'images', keyFramesOnly: true },
      ...PIECES.map((_, at) => pieceTask(2 * at)),
    ],
  };
}

function pieceTask(firstSegment: number): Task {
  const firstFrame = firstSegment * SEGMENT_FRAMES;
  return {
    kind: 'piece',
    firstSegment,
    firstFrame,
    frames: 2 * SEGMENT_FRAMES,
    firstIFrame: 0,
    iFrames: 0,
    seek: null,
    segmentStarts: [firstFrame, firstFrame + SEGMENT_FRAMES],
    keyFrames: [firstFrame, firstFrame + SEGMENT_FRAMES],
  };
}

/** The initialization section of a rendition as messages have it; nothing if the packaging has none. */
export function initializationOf(name: string, packaging: PackagingName): { initialization?: string } {
  if (PACKAGINGS[packaging].initialization === null) return {};
  return { initialization: Buffer.from(`header of ${name}`).toString('base64') };
}

/** The result that an engine reports for a task of `samplePlan`. Segment n has 1000 + 16 n bytes. */
export function resultOf(task: number, packaging: PackagingName = 'ts'): TaskResult {
  if (task === IMAGES) return { renditions: [], images: { poster: { bytes: 300 }, storyboard: null } };
  if (task === AUDIO) return { renditions: [part('audio', 0, 2 * PIECES.length, packaging)] };
  return { renditions: [part('360p', 2 * PIECES.indexOf(task), 2, packaging)] };
}

function part(
  name: 'audio' | '360p',
  first: number,
  count: number,
  packaging: PackagingName,
): StoredRendition {
  const { startTimestamp } = PACKAGINGS[packaging];
  return {
    name,
    first,
    codecs: name === 'audio' ? 'mp4a.40.2' : 'avc1.64001e',
    ...initializationOf(name, packaging),
    segments: Array.from({ length: count }, (_, at) => ({
      start: startTimestamp / CLOCK_HZ + SEGMENT_SECONDS * (first + at),
      bytes: 1000 + 16 * (first + at),
    })),
  };
}
