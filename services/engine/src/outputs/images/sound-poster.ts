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

/** The filter chain of the poster of sound alone: its cover, or a waveform of its first track. Empty for a video. */
export function soundPosterChains({ audio, images, lead, duration }: EncodePlan): string[] {
  const { ofSound } = images;
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
  const drawn = `showwavespic=s=${width}x${height}:colors=${COLOUR}:scale=sqrt`;
  const shown = `asetpts=PTS-(${lead})/TB,atrim=start=0,apad,atrim=end=${duration.toFixed(6)}`;
  return [`[0:${drawnTrack(audio)}]${shown},${samplesFor(duration)},${drawn},setpts=N/TB,${TO_JPEG}[poster]`];
}

/** The same chains, with another output that moves (see `MOVING`). */
export function movingSoundPosterChains(plan: EncodePlan): string[] {
  const { ofSound } = plan.images;
  const [chain = ''] = soundPosterChains(plan);
  if (ofSound?.cover != null) return [chain.replace('[poster]', `,split=2[${MOVING}][poster]`)];
  return [`[0:${drawnTrack(plan.audio)}]asplit=2[${MOVING}][drawn]`, chain.replace(/^\[[^\]]*\]/, '[drawn]')];
}

/** The track of the waveform: the first one that has sound. */
function drawnTrack(audio: EncodePlan['audio']): number | undefined {
  return audio.find(({ silent }) => !silent)?.index;
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
