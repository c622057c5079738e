import type { Piece } from '@framelane/contracts/outputs/piece-task';
import type { AudioPlan, EncodePlan, VideoRenditionPlan } from '@framelane/contracts/transcode-plan';
import { AUDIO_SAMPLE_RATE } from '../plan/audio-plan.ts';
import { hasOtherPrimaries, yuvMatrix } from '../plan/colour.ts';
import { encodedRenditions } from '../plan/encode-plan.ts';
import { gridLead } from '../plan/trim.ts';
import { toFraction } from '../source/frame-rate.ts';
import type { Size } from '../source/media-source.ts';
import { type HardwareRun, uploadOf } from './hardware-run.ts';
import { watermarked } from './watermark-filter.ts';

/** A label of frames that other filter chains take, and the rendition whose frames they are. */
export type Tap = { label: string; rendition: VideoRenditionPlan };

/** Filter chains beside those of the renditions: the frames that they take, and the chains. */
type OtherChains = { taps: readonly Tap[]; chains: readonly string[] };

/** Pictures a second, below which the first pictures of a video can take minutes of its sound to arrive. */
const SLOW_RATE = 1;

/**
 * Whether the pictures of a video are slow, so that each is repeated often. ffmpeg makes the repeated frames of a graph when its output with the
 * lowest timestamp needs one, and keeps those of the other outputs.
 */
export function hasSlowPictures({ sourceRate }: Pick<EncodePlan, 'sourceRate'>): boolean {
  return sourceRate !== null && sourceRate < SLOW_RATE;
}

/**
 * The filter graphs of the run that makes all outputs, each an argument of `-filter_complex`. The labels of their outputs are the names of
 * the encoded renditions. ffmpeg starts a graph when each of its inputs has a frame, and holds back the frames of the other inputs until then.
 * So each audio track has a graph of its own. Only the first track shares the graph of the video, unless it is `late` or the pictures are slow:
 * ffmpeg holds back at most 131,072 audio frames, less than an hour. With slow pictures, the other chains have a graph of their own, too.
 */
export function filterGraphs(
  plan: EncodePlan,
  { taps, chains }: OtherChains,
  device?: HardwareRun,
): string[] {
  const [first, ...others] = plan.audio;
  const isSlow = hasSlowPictures(plan);
  const [joined, apart] = first && !first.late && !isSlow ? [[first], others] : [[], plan.audio];
  const chainsOf = (audio: readonly AudioPlan[]) => audio.flatMap((each) => audioChain(each, plan));
  const video = videoChains(plan, { first: 0, frames: plan.frames }, taps, device);
  const graphs = isSlow ? [video, [...chains]] : [[...video, ...chains, ...chainsOf(joined)]];
  return [...graphs.filter((each) => each.length > 0).map((each) => each.join(';')), ...chainsOf(apart)];
}

/** The filter graph of a piece. Its outputs are labelled with the names of the encoded renditions. */
export function pieceGraph(plan: EncodePlan, { firstFrame, frames }: Piece): string {
  return videoChains(plan, { first: firstFrame, frames }, []).join(';');
}

/** The filter graphs of the audio alone. */
export function audioGraphs(plan: EncodePlan): string[] {
  return plan.audio.flatMap((audio) => audioChain(audio, plan));
}

/** Frames of the top rendition: the number of the first one, and how many. */
type FrameRange = { first: number; frames: number };

/**
 * One chain per rendition, from the top: each feeds its encoder, the scaler of the next lower rendition, and its taps. A stream copy has a chain for its
 * taps alone.
 */
function videoChains(
  plan: EncodePlan,
  range: FrameRange,
  taps: readonly Tap[],
  device?: HardwareRun,
): string[] {
  const encoded = encodedRenditions(plan);
  const tapsOf = (rendition: VideoRenditionPlan) => taps.filter((tap) => tap.rendition === rendition);
  const fromTop = plan.videoRenditions
    .filter((rendition) => encoded.includes(rendition) || tapsOf(rendition).length > 0)
    .toReversed();
  return fromTop.flatMap((rendition, at) => {
    const steps =
      at === 0
        ? watermarked(
            `[0:${plan.videoIndex}]${topChain(rendition, plan, framesIn(range, plan))}`,
            rendition,
            plan,
          )
        : `[to-${rendition.name}]${[...frameStep(rendition, fromTop[at - 1]), resized(rendition, plan)].join(',')},setsar=1`;
    const next = fromTop[at + 1];
    const isEncoded = encoded.includes(rendition);
    const upload = isEncoded ? uploadOf(rendition.name, device) : undefined;
    const frames = `memory-${rendition.name}`;
    const own = upload === undefined ? rendition.name : frames;
    const copies = [
      ...(isEncoded ? [own] : []),
      ...(next ? [`to-${next.name}`] : []),
      ...tapsOf(rendition).map(({ label }) => label),
    ];
    const chain = `${steps},${fork(copies)}`;
    return upload === undefined ? [chain] : [chain, `[${frames}]${upload}[${rendition.name}]`];
  });
}

/** Gives each of these labels all frames. */
export function fork(labels: readonly string[]): string {
  const outputs = labels.map((label) => `[${label}]`).join('');
  return labels.length > 1 ? `split=${labels.length}${outputs}` : `null${outputs}`;
}

/**
 * The sum of several channels may exceed full scale. Downmix weights that prevent this make all audio a third as loud. The limiter
 * lowers only the peaks and leaves the encoder some headroom.
 */
const LIMITER = 'alimiter=limit=0.9:level=disabled:latency=1';

const LAYOUTS: Record<AudioPlan['channels'], string> = { 1: 'mono', 2: 'stereo', 6: '5.1' };

/** Empty with a stream copy. */
function audioChain(audio: AudioPlan, { lead, firstFrame }: EncodePlan): string[] {
  if ('copiedFrames' in audio.method) return [];
  const layout = LAYOUTS[audio.channels];
  const end = `atrim=end_sample=${audio.method.samples}[${audio.name}]`;
  if (audio.silent) return [`anullsrc=channel_layout=${layout}:sample_rate=${AUDIO_SAMPLE_RATE},${end}`];
  // Fills gaps, pads a late start and an early end with silence, and cuts a late end.
  const steps = [
    ...(lead === 0 ? [] : [`asetpts=PTS-(${lead})/TB`]),
    ...(firstFrame === 0 ? [] : ['atrim=start=0']),
    `aresample=${AUDIO_SAMPLE_RATE}:async=1:first_pts=0`,
    `aformat=channel_layouts=${layout}`,
    ...(audio.silentFrom === undefined ? [] : [`atrim=end=${audio.silentFrom.toFixed(6)}`]),
    ...(audio.downmix ? [LIMITER] : []),
    'apad',
    end,
  ];
  return [`[0:${audio.index}]${steps.join(',')}`];
}

/**
 * From the decoder to a rendition: one size, progressive, upright, one colour space, 4:2:0.
 *
 * @param frames the filters that determine the times and the number of frames, from the timestamps of the source
 */
export function topChain(top: VideoRenditionPlan, plan: EncodePlan, frames: readonly string[]): string {
  const { matrix, primaries, transfer } = plan.colour;
  const { firstPicture } = plan.reading ?? {};
  return [
    ...(firstPicture === undefined ? [] : [`trim=start=${firstPicture}`]),
    `scale=${plan.coded.width}:${plan.coded.height}:interl=-1`,
    ...(plan.deinterlace ? [`bwdif=mode=${plan.deinterlace}:deint=interlaced`] : []),
    // A field-coded track may end with a single field. bwdif emits its second frame only if another frame follows.
    ...(plan.deinterlace === 'send_field' ? ['tpad=stop_mode=clone:stop=1'] : []),
    ...plan.turn,
    ...frames,
    ...frameStep(top),
    ...inRange(top, plan),
    'setsar=1',
    `setparams=range=tv:colorspace=${matrix}:color_primaries=${primaries}:color_trc=${transfer}`,
  ].join(',');
}

/** One size, the dynamic range and the pixel format of the renditions. */
function inRange(top: VideoRenditionPlan, plan: EncodePlan): string[] {
  if (plan.dynamicRange === 'sdr') return standardRange(top, plan);
  return plan.tenBit?.range === plan.dynamicRange ? [resized(top, plan)] : toneMapped(top, plan);
}

/** The pixel format of all renditions. */
function pixelFormat({ tenBit }: Pick<EncodePlan, 'tenBit'>): string {
  return tenBit ? 'yuv420p10le' : 'yuv420p';
}

/** Subtracts seconds from the timestamps. */
export function earlier(seconds: number): string[] {
  return seconds === 0 ? [] : [`setpts=PTS-(${seconds})/TB`];
}

/** `fps` starts at least this long before the range, because it needs the frame that it repeats. */
const LEAD_IN_SECONDS = 1;

/**
 * Exactly the frames of a range, at a constant rate. `fps` rounds times relative to its start. It starts at a whole second that has
 * a frame, because such a time is exact in every time base. So each range has the same frames as one run from zero. The frames that a trim cuts off
 * count, too: their numbers are only subtracted in the end.
 */
export function framesIn({ first, frames }: FrameRange, plan: EncodePlan): string[] {
  const { frameRate, firstFrame } = plan;
  const { numerator, denominator } = frameRate;
  const period = denominator / greatestCommonDivisor(numerator, denominator);
  const framesPerPeriod = (numerator * period) / denominator;
  const latest = Math.floor((firstFrame + first) / framesPerPeriod - LEAD_IN_SECONDS / period);
  // `fps` repeats no frame after the end, and the last picture of slow video can be shown for hours.
  const start = firstFrame > 0 && hasSlowPictures(plan) ? 0 : period * Math.max(0, latest);
  const skipped = firstFrame + first - (start / period) * framesPerPeriod;
  return [
    ...earlier(gridLead(plan)),
    `fps=${toFraction(frameRate)}:start_time=${start}`,
    'tpad=stop_mode=clone:stop=-1',
    `trim=${skipped === 0 ? '' : `start_frame=${skipped}:`}end_frame=${skipped + frames}`,
    ...(firstFrame === 0 ? [] : [`setpts=PTS-${firstFrame}`]),
  ];
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Drops every second frame for a rendition that has half the frame rate of its source. */
function frameStep(rendition: VideoRenditionPlan, from?: VideoRenditionPlan): string[] {
  const step = rendition.frameStep / (from?.frameStep ?? 1);
  return step === 1 ? [] : [`framestep=${step}`];
}

/**
 * zimg scales 8-bit 4:2:0 in a quarter of the time of swscale (measured). Only swscale accepts every format. Without an explicit range,
 * ffmpeg from version 7 on gives the rendition that feeds the poster the full range of JPEG.
 */
function resized({ width, height }: Size, plan: Pick<EncodePlan, 'tenBit'>): string {
  return `zscale=${width}:${height}:filter=lanczos:range=tv,format=${pixelFormat(plan)}`;
}

function standardRange(top: VideoRenditionPlan, plan: EncodePlan): string[] {
  const { pixelsCompatible, coded, assumedMatrix } = plan;
  const { width, height } = top;
  if (pixelsCompatible) {
    // The explicit format also keeps the renditions from taking the images' JPEG format.
    return [coded.width === width && coded.height === height ? 'format=yuv420p' : resized(top, plan)];
  }
  if (hasOtherPrimaries(plan.tagged)) return fromOtherPrimaries(top, plan);
  const from = assumedMatrix === null ? '' : `:in_color_matrix=${assumedMatrix}`;
  return [
    `scale=${width}:${height}${from}:out_color_matrix=bt709:out_range=tv`,
    `format=${pixelFormat(plan)}`,
  ];
}

/** Scales first, because the conversion in linear light is slow. Standard-range transfer functions count as BT.709's. */
function fromOtherPrimaries({ width, height }: VideoRenditionPlan, plan: EncodePlan): string[] {
  const { tagged, assumedMatrix } = plan;
  const matrix = yuvMatrix(tagged) ?? (assumedMatrix === 'bt601' ? 'smpte170m' : 'bt709');
  const asYuv = tagged.colorMatrix === 'gbr' ? [`out_color_matrix=${matrix},format=yuv444p10le`] : [];
  return [
    [`scale=${width}:${height}:out_range=tv`, ...asYuv].join(':'),
    `zscale=primariesin=${tagged.colorPrimaries}:transferin=bt709:matrixin=${matrix}:rangein=tv` +
      ':primaries=bt709:transfer=bt709:matrix=bt709:range=tv',
    `format=${pixelFormat(plan)}`,
  ];
}

/** Scales first, because tone mapping works on linear light in floats and is slow. */
function toneMapped({ width, height }: VideoRenditionPlan, { dynamicRange, tagged }: EncodePlan): string[] {
  const transfer = dynamicRange === 'pq' ? 'smpte2084' : 'arib-std-b67';
  const primaries = hasOtherPrimaries(tagged) ? tagged.colorPrimaries : 'bt2020';
  const matrix = yuvMatrix(tagged) ?? 'bt2020nc';
  return [
    `scale=${width}:${height}`,
    // zimg converts nothing without complete tags, and later frames may have others.
    `setparams=color_primaries=${primaries}:color_trc=${transfer}:colorspace=${matrix}`,
    'zscale=transfer=linear:npl=100',
    'format=gbrpf32le',
    'zscale=primaries=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=transfer=bt709:matrix=bt709:range=tv',
    'format=yuv420p',
  ];
}
