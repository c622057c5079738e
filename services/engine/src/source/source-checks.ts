import { isAudioCodecAccepted, isVideoCodecAccepted, MAX_PIXELS } from '../sandbox/whitelist.ts';
import { refusal, type TranscodeFailure } from '../transcode-failure.ts';
import {
  type AudioTrack,
  describeTrack,
  type MediaSource,
  type Size,
  type TrackName,
  type VideoTrack,
} from './media-source.ts';
import type { Timeline } from './packet-timeline.ts';

const MAX_SIDE = 8192;
const MIN_DURATION_SECONDS = 0.1;
const MIN_FRAME_RATE = 1;
export const MAX_FRAME_RATE = 240;
/** Pixels a second: a little more than 8192×4320 at 30 frames a second, or 4096×2160 at 120. */
const MAX_PIXEL_RATE = 1_100_000_000;
/** Pixels of all frames: 12 hours of 3840×2160 at 30 frames a second. */
const MAX_TOTAL_PIXELS = 12 * 3600 * 30 * 3840 * 2160;

/** The tracks that are transcoded, and those that are not. */
export type ChosenTracks = { video: VideoTrack; audio: AudioTrack | null; leftOut: readonly TrackName[] };

/** One track of video and at most one of audio: the first default one that can be decoded. Throws a refusal. */
export function chooseTracks({ videoTracks, audioTracks, tracks }: MediaSource): ChosenTracks {
  const nameOf = (track: VideoTrack | AudioTrack) => tracks.find(({ index }) => index === track.index);
  const usableVideo = videoTracks.filter((track) => isReadable(track, isVideoCodecAccepted));
  const video = preferred(usableVideo);
  if (!video) {
    const unusable = preferred(videoTracks);
    throw unusable
      ? unreadable(unusable, nameOf(unusable))
      : refusal('no_video_track', 'The file has no video track.');
  }
  if (video.needsDolbyVision) {
    throw refusal('unsupported_codec', 'The video has the colours of Dolby Vision alone (profile 5).');
  }
  assertSize(video);

  const usableAudio = audioTracks.filter((track) => isReadable(track, isAudioCodecAccepted));
  // Broadcasters announce tracks of which nothing comes.
  const audio = preferred(usableAudio.filter(({ channels }) => channels > 0)) ?? preferred(usableAudio);
  const unusableAudio = preferred(audioTracks);
  if (!audio && unusableAudio) throw unreadable(unusableAudio, nameOf(unusableAudio));
  const leftOut = tracks.filter(({ index }) => index !== video.index && index !== audio?.index);
  return { video, audio: audio ?? null, leftOut };
}

/** Bounds the frames of a video while its packets are read. */
export class VideoBudget {
  readonly #maxFrames: number;
  readonly #maxPictures: number;
  readonly #maxDurationSeconds: number;

  /** @param coded size of a frame */
  constructor(coded: Size, maxDurationSeconds: number) {
    this.#maxFrames = maxDurationSeconds * MAX_FRAME_RATE;
    this.#maxPictures = MAX_TOTAL_PIXELS / (coded.width * coded.height);
    this.#maxDurationSeconds = maxDurationSeconds;
  }

  /** Throws a refusal when so many frames are too many, or they last too long. */
  check(frames: number, duration: number): void {
    if (duration > this.#maxDurationSeconds) throw tooLong(this.#maxDurationSeconds);
    if (frames > this.#maxFrames) {
      throw refusal('malformed_media', `The video has more than ${this.#maxFrames} frames.`);
    }
    if (frames > this.#maxPictures) {
      throw refusal(
        'dimensions_exceeded',
        `All frames together have more than ${inBillions(MAX_TOTAL_PIXELS)} billion pixels, which 12 hours of 3840×2160 at 30 frames a second have.`,
      );
    }
  }
}

/** Refuses what is too short, too long, too slow, too fast, or too much to decode. */
export function checkTimeline(
  timeline: Timeline | null,
  coded: Size,
  maxDurationSeconds: number,
): asserts timeline is Timeline {
  if (!timeline) throw refusal('malformed_media', 'The video track holds no frames.');
  const { duration, averageRate } = timeline;
  if (!(duration >= MIN_DURATION_SECONDS)) {
    throw refusal('duration_too_short', `The video is shorter than ${MIN_DURATION_SECONDS} seconds.`);
  }
  if (duration > maxDurationSeconds) throw tooLong(maxDurationSeconds);
  if (averageRate < MIN_FRAME_RATE || averageRate > MAX_FRAME_RATE) {
    throw refusal(
      'malformed_media',
      `The video has ${averageRate.toPrecision(3)} frames a second; ${MIN_FRAME_RATE} to ${MAX_FRAME_RATE} are accepted.`,
    );
  }
  const pixelRate = coded.width * coded.height * averageRate;
  if (pixelRate > MAX_PIXEL_RATE) {
    throw refusal(
      'dimensions_exceeded',
      `${coded.width}×${coded.height} at ${averageRate.toPrecision(3)} frames a second are ${inBillions(pixelRate)} billion pixels a second; at most ${inBillions(MAX_PIXEL_RATE)} billion are accepted.`,
    );
  }
}

function tooLong(maxDurationSeconds: number): TranscodeFailure {
  return refusal('duration_exceeded', `The video is longer than ${maxDurationSeconds / 3600} hours.`);
}

function inBillions(count: number): string {
  return String(Number((count / 1e9).toPrecision(3)));
}

function preferred<T extends { isDefault: boolean }>(tracks: readonly T[]): T | undefined {
  return tracks.find((track) => track.isDefault) ?? tracks[0];
}

function isReadable(
  { encrypted, codec }: VideoTrack | AudioTrack,
  isAccepted: (codec: string) => boolean,
): boolean {
  return !encrypted && isAccepted(codec);
}

function unreadable({ encrypted }: VideoTrack | AudioTrack, name: TrackName | undefined): TranscodeFailure {
  const track = name ? `Track ${describeTrack(name)}` : 'A track';
  return refusal(
    'unsupported_codec',
    `${track} ${encrypted ? 'is encrypted' : 'has a codec that is not supported'}.`,
  );
}

function assertSize({ coded, display }: VideoTrack): void {
  if (coded.width < 1 || coded.height < 1) {
    throw refusal('malformed_media', 'The size of the picture cannot be read.');
  }
  if (Math.max(coded.width, coded.height, display.width, display.height) > MAX_SIDE) {
    throw refusal('dimensions_exceeded', `The picture is more than ${MAX_SIDE} pixels wide or high.`);
  }
  if (coded.width * coded.height > MAX_PIXELS) {
    throw refusal('dimensions_exceeded', `The picture has more than ${MAX_PIXELS / 1e6} million pixels.`);
  }
}
