import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import { IMAGE_COLOURS, TO_JPEG } from '../../ffmpeg/image-colours.ts';

/** The label of what moves while the poster of sound alone is made: its run shows its progress by that. */
export const MOVING = 'moving';

/** Sound that is shorter than this is drawn as it is. */
const SHORT_SECONDS = 60;

const COLOUR = '0x5f8dd3';

/**
 * The rate of the envelope from which longer sound is drawn, and the rate of the samples that it follows. ffmpeg keeps all samples of a waveform in
 * memory until the end: of 12 hours, 9 MB instead of 4 GB.
 */
const ENVELOPE_RATE = 100;
const FOLLOWED_RATE = 8000;

const FRAME_SAMPLES = 4096;

/** The filter chain of the poster of sound alone: its cover, or a waveform of its first track that has sound. Empty for a video. */
export function soundPosterChains(plan: EncodePlan): string[] {
  const { ofSound } = plan.images;
  if (ofSound === undefined) return [];
  const { cover, width, height } = ofSound;
  if (cover !== null) {
    const picture = [
      `scale=${width}:${height}:${IMAGE_COLOURS.jpg}`,
      'setsar=1',
      'format=yuvj420p',
      'trim=end_frame=1',
    ];
    return [`[0:${cover}]${picture.join(',')},setpts=N/TB[poster]`];
  }
  return [`${drawnSound(plan)}${waveform(plan, ofSound)}`];
}

/** From sound to the poster. */
function waveform({ duration }: EncodePlan, { width, height }: { width: number; height: number }): string {
  const drawn = `showwavespic=s=${width}x${height}:colors=${COLOUR}:scale=sqrt`;
  return `${samplesFor(duration)},${drawn},setpts=N/TB,${TO_JPEG}[poster]`;
}

/** The same chains, with another output that moves (see `MOVING`). */
export function movingSoundPosterChains(plan: EncodePlan): string[] {
  const { ofSound } = plan.images;
  if (ofSound === undefined) return [];
  if (ofSound.cover !== null)
    return soundPosterChains(plan).map((chain) => chain.replace('[poster]', `,split=2[${MOVING}][poster]`));
  return [`${drawnSound(plan)}asplit=2[${MOVING}][drawn]`, `[drawn]${waveform(plan, ofSound)}`];
}

/** The beginning of a chain: as much sound as the output has, of its first track that is not silent. A trim can leave none. */
function drawnSound({ audio, lead, duration }: EncodePlan): string {
  const track = audio.find(({ silent }) => !silent);
  const end = `atrim=end=${duration.toFixed(6)},`;
  if (track === undefined) return `anullsrc=channel_layout=mono:sample_rate=48000,${end}`;
  return `[0:${track.index}]asetpts=PTS-(${lead})/TB,atrim=start=0,apad,${end}`;
}

/** The samples that the waveform is drawn from. Those of an envelope are all positive, so every second one is negated. */
function samplesFor(duration: number): string {
  const mono = 'aformat=channel_layouts=mono';
  if (duration < SHORT_SECONDS) return `${mono},aresample=48000`;
  return [
    `${mono},aresample=${FOLLOWED_RATE}`,
    'aeval=abs(val(0)):c=mono',
    `aresample=${ENVELOPE_RATE}`,
    String.raw`aeval=val(0)*(1-2*mod(n\,2)):c=mono`,
    mono,
    // Frames of a few samples would take a hundred times the memory of their samples.
    `asetnsamples=n=${FRAME_SAMPLES}:p=0`,
  ].join(',');
}
