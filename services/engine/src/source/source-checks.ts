import type { AudioOnlyRule } from '@framelane/contracts/internal-api';
import { AUDIO_RENDITIONS } from '@framelane/contracts/renditions';
import { MIN_DURATION_SECONDS } from '@framelane/contracts/shortest-duration';
import { refusal, type TranscodeFailure } from '../transcode-failure.ts';
import { MIN_RATE } from './frame-rate.ts';
import {
  type AudioTrack,
  describeTrack,
  type MediaSource,
  type Size,
  type TrackName,
  type VideoTrack,
} from './media-source.ts';
import type { PacketTimeline, Timeline } from './packet-timeline.ts';
import { isSlow } from './slow-video.ts';
import { isAudioCodecAccepted, isVideoCodecAccepted, MAX_PIXELS, MAX_SIDE } from './whitelist.ts';

export const MAX_FRAME_RATE = 240;
/** Pixels per second: a little more than 8192×4320 at 30 frames per second, or 4096×2160 at 120. */
const MAX_PIXEL_RATE = 1_100_000_000;
/** Pixels of all frames: 12 hours of 3840×2160 at 30 frames per second. */
const MAX_TOTAL_PIXELS = 12 * 3600 * 30 * 3840 * 2160;

/** The tracks that are transcoded. The default audio track is the first. Sound alone has no video, and at least one audio track. */
export type ChosenTracks = { video: VideoTrack | null; audio: readonly AudioTrack[] };

/**
 * Chooses one video track: of those that can be decoded, the first default track, else the first one. Chooses the audio track
 * by the same rule, and after it the first other ones that can be decoded. Throws a refusal if no video track can be decoded, unless sound
 * alone is required, or is accepted and the file has no video track.
 */
export function chooseTracks(source: MediaSource, audioOnly: AudioOnlyRule): ChosenTracks {
  const audio = chooseAudio(source);
  const isSoundAlone =
    audioOnly === 'required' || (audioOnly === 'accepted' && source.videoTracks.length === 0);
  if (!isSoundAlone) return { video: chooseVideo(source, audioOnly), audio };
  if (audio.length === 0) throw noAudioRefusal(source, audioOnly);
  return { video: null, audio };
}

function chooseVideo(
  { videoTracks, audioTracks, tracks }: MediaSource,
  audioOnly: AudioOnlyRule,
): VideoTrack {
  // `tracks` has every track of the file.
  const nameOf = (track: VideoTrack) => tracks.find(({ index }) => index === track.index) as TrackName;
  const decodableVideo = videoTracks.filter((track) => isDecodable(track, isVideoCodecAccepted));
  const video = preferred(decodableVideo.filter(hasSize)) ?? preferred(decodableVideo);
  if (!video) {
    const undecodable = preferred(videoTracks);
    throw undecodable
      ? undecodableTrackRefusal(undecodable, nameOf(undecodable))
      : noVideoRefusal(audioOnly === 'refused' && audioTracks.length > 0);
  }
  if (video.needsDolbyVision) {
    throw refusal(
      'unsupported_codec',
      'The video is Dolby Vision without a compatible base layer, such as profile 5. Export it as SDR, HDR10 or HLG.',
    );
  }
  assertSize(video);
  return video;
}

function chooseAudio({ audioTracks }: MediaSource): readonly AudioTrack[] {
  const decodableAudio = audioTracks.filter((track) => isDecodable(track, isAudioCodecAccepted));
  // Broadcasts declare audio tracks without content; these have no channels.
  const audible = decodableAudio.filter(({ channels }) => channels > 0);
  const first = preferred(audible) ?? preferred(decodableAudio);
  const others = audible.filter((track) => track !== first);
  return first ? [first, ...others].slice(0, AUDIO_RENDITIONS.length) : [];
}

/** How to publish a file with sound alone, for the owner of the video. */
export const AUDIO_ONLY_ADVICE = 'To publish sound alone, create the video with "audioOnly": true.';

function noVideoRefusal(isSound: boolean): TranscodeFailure {
  const advice = isSound ? ` ${AUDIO_ONLY_ADVICE}` : '';
  return refusal(
    'no_video_track',
    `The file has no video track. Upload a file that contains video.${advice}`,
  );
}

function noAudioRefusal({ audioTracks, tracks }: MediaSource, audioOnly: AudioOnlyRule): TranscodeFailure {
  const [unusable] = audioTracks;
  const name = tracks.find(({ index }) => index === unusable?.index);
  if (unusable && name) return undecodableTrackRefusal(unusable, name);
  if (audioOnly === 'accepted') return noVideoRefusal(false);
  return refusal('no_audio_track', 'The file has no audio track. Upload a file that contains sound.');
}

/** Throws a refusal if a video or sound alone is too long. For sound, call it while its packets are read. `duration` is in seconds. */
export function checkDuration(duration: number, maxDurationSeconds: number): void {
  if (duration > maxDurationSeconds) throw tooLong(maxDurationSeconds);
}

/** Throws a refusal if the duration of sound alone is outside the limits, or unknown. */
export function checkSoundDuration(duration: number, maxDurationSeconds: number): void {
  if (!(duration >= MIN_DURATION_SECONDS)) throw tooShort();
  checkDuration(duration, maxDurationSeconds);
}

export type DurationLimits = {
  /** Maximum duration of a video. It also limits the work of reading a source. */
  maxDurationSeconds: number;
  /** Maximum duration of a source: that of a video, or Infinity if the video is a part of it. */
  maxSourceSeconds: number;
};

/** Limits the number of frames of a video while its packets are read. */
export class VideoBudget {
  readonly #maxFrames: number;
  readonly #maxFramesForSize: number;
  readonly #maxSourceSeconds: number;

  /** @param coded size of a frame */
  constructor(coded: Size, { maxDurationSeconds, maxSourceSeconds }: DurationLimits) {
    this.#maxFrames = maxDurationSeconds * MAX_FRAME_RATE;
    this.#maxFramesForSize = MAX_TOTAL_PIXELS / (coded.width * coded.height);
    this.#maxSourceSeconds = maxSourceSeconds;
  }

  /** Throws a refusal when there are too many frames, or they last too long. */
  check(frames: number, duration: number): void {
    checkDuration(duration, this.#maxSourceSeconds);
    if (frames > this.#maxFrames) {
      throw refusal('malformed_media', `The video has too many frames; ${this.#maxFrames} are allowed.`);
    }
    if (frames > this.#maxFramesForSize) {
      throw refusal(
        'dimensions_exceeded',
        `The video has too many pixels in total; at most 12 hours of 3840×2160 at 30 frames per second are allowed.`,
      );
    }
  }
}

/** Throws a refusal if duration, frame rate or pixel rate are outside the limits, or the timeline is missing. */
export function checkTimeline(
  timeline: Timeline | null,
  coded: Size,
  limits: DurationLimits,
): asserts timeline is Timeline {
  if (!timeline)
    throw refusal(
      'malformed_media',
      'The video track has no frames. Export the video again and upload that.',
    );
  const { duration, averageRate } = timeline;
  if (!(duration >= MIN_DURATION_SECONDS)) {
    throw tooShort();
  }
  checkDuration(duration, limits.maxSourceSeconds);
  if (averageRate > MAX_FRAME_RATE) {
    throw refusal(
      'malformed_media',
      `The video has ${averageRate.toPrecision(3)} frames per second; at most ${MAX_FRAME_RATE} are allowed.`,
    );
  }
  // The frames of slow video are repeated: a single one can be shown for hours.
  if (isSlow(timeline)) new VideoBudget(coded, limits).check(duration * MIN_RATE, duration);
  const pixelRate = coded.width * coded.height * averageRate;
  if (pixelRate > MAX_PIXEL_RATE) {
    throw refusal(
      'dimensions_exceeded',
      `${coded.width}×${coded.height} at ${averageRate.toPrecision(3)} frames per second has ${inBillions(pixelRate)} billion pixels per second; at most ${inBillions(MAX_PIXEL_RATE)} billion are allowed. Reduce the size or the frame rate.`,
    );
  }
}

function tooShort(): TranscodeFailure {
  return refusal(
    'duration_too_short',
    `The file is too short; at least ${MIN_DURATION_SECONDS} seconds are required.`,
  );
}

function tooLong(maxDurationSeconds: number): TranscodeFailure {
  return refusal(
    'duration_exceeded',
    `The video or sound is too long; at most ${maxDurationSeconds / 3600} hours are allowed.`,
  );
}

function inBillions(count: number): string {
  return String(Number((count / 1e9).toPrecision(3)));
}

function preferred<T extends { isDefault: boolean }>(tracks: readonly T[]): T | undefined {
  return tracks.find((track) => track.isDefault) ?? tracks[0];
}

function isDecodable(
  { encrypted, codec }: VideoTrack | AudioTrack,
  isAccepted: (codec: string) => boolean,
): boolean {
  return !encrypted && isAccepted(codec);
}

/** Codecs whose decoder (libdav1d) emits frames that are not to be displayed (measured with ffmpeg 5.1 and 7.0). */
const CODECS_WITHOUT_HIDDEN_FRAMES = ['av1'];

/**
 * Throws a refusal if an edit list hides all of a video, or if the decoder would show what it hides between the parts that it shows. Filters
 * cut what is before and after.
 */
export function checkHiddenPackets(
  { hidesAll, hidesWithin }: Pick<PacketTimeline, 'hidesAll' | 'hidesWithin'>,
  codec: string,
): void {
  if (hidesAll) {
    throw refusal(
      'malformed_media',
      'The edit list of the video shows none of its frames. Export the video again and upload that.',
    );
  }
  if (!hidesWithin || !CODECS_WITHOUT_HIDDEN_FRAMES.includes(codec)) return;
  throw refusal(
    'malformed_media',
    'The edit list of the video delays or joins parts of it, which is not supported for AV1. Export the video again and upload that.',
  );
}

/** The file has an encrypted track. */
export function encryptedTrackRefusal(track: TrackName): TranscodeFailure {
  return refusal(
    'unsupported_codec',
    `Track ${describeTrack(track)} is encrypted. Upload the file without encryption.`,
  );
}

function undecodableTrackRefusal(
  { encrypted }: Pick<VideoTrack, 'encrypted'>,
  track: TrackName,
): TranscodeFailure {
  if (encrypted) return encryptedTrackRefusal(track);
  return refusal('unsupported_codec', `Track ${describeTrack(track)} has a codec that is not supported.`);
}

/** Whether the size of the frames is known. It is not if the track has no frames. */
export function hasSize({ coded }: VideoTrack): boolean {
  return coded.width > 0 && coded.height > 0;
}

function assertSize(video: VideoTrack): void {
  const { coded, display } = video;
  if (!hasSize(video)) {
    throw refusal(
      'malformed_media',
      'The video track does not declare the size of its frames. Export the video again and upload that.',
    );
  }
  if (Math.max(coded.width, coded.height, display.width, display.height) > MAX_SIDE) {
    throw refusal(
      'dimensions_exceeded',
      `The frames are too large; at most ${MAX_SIDE} pixels per side are allowed.`,
    );
  }
  if (coded.width * coded.height > MAX_PIXELS) {
    throw refusal(
      'dimensions_exceeded',
      `The frames are too large; at most ${MAX_PIXELS / 1e6} million pixels are allowed.`,
    );
  }
}
