import { type EncodePlan, SOUND_FRAME_RATE } from '@framelane/contracts/transcode-plan';
import { AAC_FRAME_SAMPLES } from '../source/audio-scan.ts';
import type { Size } from '../source/media-source.ts';
import type { ProbedSound } from '../source/probe.ts';
import { AUDIO_SAMPLE_RATE, audioPlans } from './audio-plan.ts';
import { BT709 } from './colour.ts';
import { ENCODED_CUTS, type ExplainedPlan, type PlanSettings } from './explained-plan.ts';
import { soundIssues } from './input-issues.ts';
import { checkAudioCopy } from './stream-copy.ts';
import { partOf } from './trim.ts';

/** The size of a waveform. */
const WAVEFORM: Size = { width: 1280, height: 720 };

/** The longest short side of a poster, in pixels. */
const MAX_POSTER_SIDE = 720;

/** What the fields about the pixels of frames are for sound alone, where they have no effect. */
const WITHOUT_FRAMES = {
  videoIndex: null,
  videoRenditions: [],
  copiesVideo: false,
  sourceRate: null,
  turn: [],
  deinterlace: null,
  dynamicRange: 'sdr',
  colour: BT709,
  pixelsCompatible: true,
  tagged: { colorMatrix: null, colorPrimaries: null, colorTransfer: null },
  assumedMatrix: null,
} as const satisfies Partial<EncodePlan>;

/** Decides how to transcode sound alone (see `planEncoding`). It begins with its first track and lasts as long as the last one. */
export function planSound(
  source: ProbedSound,
  {
    allowCopy,
    packaging,
    surround,
    trim,
  }: Pick<PlanSettings, 'packaging' | 'surround' | 'trim'> & { allowCopy: boolean },
): ExplainedPlan {
  const { container, timeline, cover } = source;
  const sourceLead = Number(timeline.start.toFixed(6));
  const whole = {
    lead: sourceLead,
    frameRate: { numerator: SOUND_FRAME_RATE, denominator: 1 },
    frames: Math.max(1, Math.round((timeline.duration - sourceLead) * SOUND_FRAME_RATE)),
    videoRenditions: [],
  };
  const { isTrimmed: _, endsAt, ...part } = partOf(whole, trim);
  const { lead, duration } = part;
  const verdicts = source.audio.map((audio) =>
    allowCopy
      ? checkAudioCopy({ container, audio, frames: audio.frames, lead, duration })
      : ({ copy: null, obstacle: 'failed' } as const),
  );
  const copies = verdicts.map(({ copy }) => copy);
  // Beside video, audio ends a little early rather than late. Here its last frame counts.
  const until = duration + AAC_FRAME_SAMPLES / AUDIO_SAMPLE_RATE;
  return {
    ...WITHOUT_FRAMES,
    reading: source.reading,
    ...part,
    packaging,
    audio: audioPlans(source.audio, copies, { surround, ...part, duration: until }),
    obstacles: { video: null, audio: verdicts.map(({ obstacle }) => obstacle) },
    ...ENCODED_CUTS,
    frameRate: whole.frameRate,
    coded: cover?.size ?? WAVEFORM,
    images: {
      posterFrom: 0,
      ofSound: { cover: cover?.index ?? null, ...(cover ? posterSize(cover.size) : WAVEFORM) },
      storyboard: null,
    },
    inputIssues: soundIssues(source, { surround, endsAt }),
  };
}

/** A cover picture is made smaller if necessary, and never larger. */
function posterSize({ width, height }: Size): Size {
  const scale = Math.min(1, MAX_POSTER_SIDE / Math.min(width, height));
  const scaled = (pixels: number) => Math.max(1, Math.round(pixels * scale));
  return { width: scaled(width), height: scaled(height) };
}
