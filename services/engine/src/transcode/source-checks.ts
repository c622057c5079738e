import { isAudioCodecAccepted, isVideoCodecAccepted, MAX_PIXELS } from './input-limits.ts';
import type { AudioTrack, MediaSource, VideoTrack } from './media-source.ts';
import type { Timeline } from './packet-timeline.ts';
import { refusal } from './transcode-failure.ts';

const MAX_SIDE = 8192;
const MIN_DURATION_SECONDS = 0.1;
const MIN_FRAME_RATE = 1;
const MAX_FRAME_RATE = 240;

/** The tracks that are transcoded: one of video and at most one of audio, the file's defaults. Throws a refusal. */
export function chooseTracks({ videoTracks, audioTracks }: MediaSource): {
  video: VideoTrack;
  audio: AudioTrack | null;
} {
  const video = preferred(videoTracks);
  if (!video) throw refusal('no_video_track', 'The file has no video track.');
  assertReadable(video, isVideoCodecAccepted, 'video');
  if (video.needsDolbyVision) {
    throw refusal('unsupported_codec', 'The video has the colours of Dolby Vision alone (profile 5).');
  }
  assertSize(video);

  const usableAudio = audioTracks.filter((track) => !track.encrypted && isAudioCodecAccepted(track.codec));
  const audio = preferred(usableAudio);
  const [unusableAudio] = audioTracks;
  if (!audio && unusableAudio) assertReadable(unusableAudio, isAudioCodecAccepted, 'audio');
  return { video, audio: audio ?? null };
}

/** Refuses what is too short, too long, too slow or too fast. */
export function checkTimeline(
  timeline: Timeline | null,
  maxDurationSeconds: number,
): asserts timeline is Timeline {
  if (!timeline) throw refusal('malformed_media', 'The video track holds no frames.');
  const { duration, averageRate } = timeline;
  if (!(duration >= MIN_DURATION_SECONDS)) {
    throw refusal('duration_too_short', `The video is shorter than ${MIN_DURATION_SECONDS} seconds.`);
  }
  if (duration > maxDurationSeconds) {
    throw refusal('duration_exceeded', `The video is longer than ${maxDurationSeconds / 3600} hours.`);
  }
  if (averageRate < MIN_FRAME_RATE || averageRate > MAX_FRAME_RATE) {
    throw refusal(
      'malformed_media',
      `The video has ${averageRate.toPrecision(3)} frames a second; ${MIN_FRAME_RATE} to ${MAX_FRAME_RATE} are accepted.`,
    );
  }
}

function preferred<T extends { isDefault: boolean }>(tracks: readonly T[]): T | undefined {
  return tracks.find((track) => track.isDefault) ?? tracks[0];
}

function assertReadable(
  track: VideoTrack | AudioTrack,
  isAccepted: (codec: string) => boolean,
  kind: 'video' | 'audio',
): void {
  if (track.encrypted) throw refusal('unsupported_codec', `The ${kind} track is encrypted.`);
  if (!isAccepted(track.codec)) {
    throw refusal('unsupported_codec', `The ${kind} codec ${track.codec} is not supported.`);
  }
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
