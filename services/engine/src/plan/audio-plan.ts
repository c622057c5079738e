import { languageName } from '@framelane/contracts/languages';
import { AUDIO_RENDITIONS, SURROUND_RENDITIONS, UNNAMED_AUDIO } from '@framelane/contracts/renditions';
import type { AudioPlan, EncodePlan } from '@framelane/contracts/transcode-plan';
import { AAC_FRAME_SAMPLES } from '../source/audio-scan.ts';
import type { AudioTrack } from '../source/media-source.ts';
import type { ProbedAudio } from '../source/probe.ts';

/** Sample rate of encoded audio, in hertz. */
export const AUDIO_SAMPLE_RATE = 48_000;

/** Audio that begins later than this in the output is late. */
const LATE_SECONDS = 1;

/** Sound that ends sooner after the first frame of a trimmed video is left out: its decoder may have nothing to show for its last packets. */
const SHORTEST_REST_SECONDS = 0.1;

/** Channels of 5.1. */
export const SURROUND_CHANNELS = 6;

/** How many frames of a track are copied, and the second at which they end; null if the track is encoded. */
type Copied = { frames: number; end: number } | null;

type OutputTimes = Pick<EncodePlan, 'lead' | 'firstFrame' | 'duration'>;

/**
 * How to produce the renditions of the audio tracks: those in mono or stereo, then those in 5.1.
 *
 * @param copied for each track
 * @param surround whether tracks with 5.1 get a rendition in 5.1
 * @param part the times of the output. The duration that audio has may differ a little from that of the frames
 */
export function audioPlans(
  tracks: readonly ProbedAudio[],
  copied: readonly (Copied | undefined)[],
  { surround, ...part }: { surround: boolean } & OutputTimes,
): AudioPlan[] {
  const samples = audioSamples(part.duration);
  const encoded = { method: { samples }, end: samples / AUDIO_SAMPLE_RATE, decodeToStereo: false };
  const plans = AUDIO_RENDITIONS.flatMap((name, at): AudioPlan[] => {
    const track = tracks[at];
    if (track === undefined) return [];
    const { index, channels } = track;
    const times = timesOf(track, part);
    const own = copied[at];
    return [
      {
        ...encoded,
        ...times,
        name,
        index,
        channels: channels === 1 ? 1 : 2,
        downmix: channels > 2,
        ...(own && { method: { copiedFrames: own.frames }, end: own.end }),
      },
    ];
  });
  if (!surround) return plans;
  const surroundPlans = SURROUND_RENDITIONS.flatMap((name, at): AudioPlan[] => {
    const track = tracks[at];
    if (track === undefined || track.channels < SURROUND_CHANNELS) return [];
    const { index, channels } = track;
    const facts = { ...timesOf(track, part), downmix: channels > SURROUND_CHANNELS };
    return [{ ...encoded, ...facts, name, index, channels: SURROUND_CHANNELS }];
  });
  return [...plans, ...surroundPlans];
}

function timesOf(
  { start, end, silentFrom }: ProbedAudio,
  { lead, firstFrame, duration }: OutputTimes,
): Pick<AudioPlan, 'late' | 'silentFrom' | 'silent'> {
  const isOver = firstFrame > 0 && end < lead + SHORTEST_REST_SECONDS;
  if (isOver || start > lead + duration) return { late: false, silent: true };
  const late = start - lead > LATE_SECONDS;
  const isCut = silentFrom !== undefined && Number.isFinite(silentFrom);
  return { late, ...(isCut && { silentFrom: Math.max(0, silentFrom - lead) }) };
}

/**
 * The number of samples to encode. The encoder adds one frame at the start and emits whole frames only. The audio ends with the
 * video or less than one AAC frame before it. A frame that starts at or after the end could become a segment of its own.
 */
function audioSamples(duration: number): number {
  const samples = Math.round(duration * AUDIO_SAMPLE_RATE);
  return AAC_FRAME_SAMPLES * Math.max(1, Math.ceil(samples / AAC_FRAME_SAMPLES) - 1);
}

const MAX_TITLE_LENGTH = 80;
/** Control, bidirectional formatting and private-use characters, halves of surrogate pairs, and line separators. */
const NOT_SHOWN = /[\p{Cc}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** The names of the audio tracks for players: the title of each, else the name of its language in that language. All differ. */
export function audioLabels(tracks: readonly Pick<AudioTrack, 'title' | 'language'>[]): string[] {
  const labels: string[] = [];
  for (const { title, language } of tracks) {
    const label = shownTitle(title ?? '') || (language && languageName(language)) || UNNAMED_AUDIO;
    const names = [label, ...tracks.map((_, at) => `${label} ${at + 2}`)];
    labels.push(names.find((name) => !labels.includes(name)) ?? label);
  }
  return labels;
}

/** A quotation mark would end the name in a playlist (RFC 8216 §4.2). */
function shownTitle(title: string): string {
  const text = title.replaceAll('"', "'").replaceAll(NOT_SHOWN, ' ').replaceAll(/\s+/g, ' ').trimStart();
  return [...text].slice(0, MAX_TITLE_LENGTH).join('').trimEnd();
}
