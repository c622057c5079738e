import type {
  AudioPlan,
  EncodePlan,
  PieceTask,
  VideoRenditionPlan,
} from '@framelane/contracts/transcode-plan';
import { AUDIO_SAMPLE_RATE } from '../plan/audio-plan.ts';
import { hasOtherPrimaries, yuvMatrix } from '../plan/colour.ts';
import { encodedRenditions } from '../plan/encode-plan.ts';
import { rungTraits } from '../plan/ladder.ts';
import { toFraction } from '../source/frame-rate.ts';
import type { Size } from '../source/media-source.ts';

/** The images of a video. Each is the label of a filter chain and the name of a file. */
export const IMAGES = ['poster', 'storyboard'] as const;

/** Seconds between the frames that are tried for the poster. */
const CANDIDATE_SECONDS = 0.5;
/** Average luma below which a frame counts as black. Black is 16 and white is 235. */
const NEARLY_BLACK = 24;

/**
 * The filter graphs of the run that makes all outputs, each an argument of `-filter_complex`. The labels of their outputs are the names of
 * the encoded renditions and of the images. ffmpeg starts a graph when each of its inputs has a frame, and holds back the frames of the
 * other inputs until then. So each audio track has a graph of its own. Only the first track shares the graph of the video, unless it is
 * `late`.
 */
export function filterGraphs(plan: EncodePlan): string[] {
  const [first, ...others] = plan.audio;
  const [joined, apart] = first && !first.late ? [[first], others] : [[], plan.audio];
  const chainsOf = (audio: readonly AudioPlan[]) => audio.flatMap((each) => audioChain(each, plan));
  const video = videoChains(plan, { first: 0, frames: plan.frames }, imageSources(plan));
  return [
    [...video, ...imageChains(plan, atIntervals(plan)), ...chainsOf(joined)].join(';'),
    ...chainsOf(apart),
  ];
}

/** The filter graph of a piece. Its outputs are labelled with the names of the encoded renditions. */
export function pieceGraph(plan: EncodePlan, { firstFrame, frames }: PieceTask): string {
  return videoChains(plan, { first: firstFrame, frames }, {}).join(';');
}

/** The filter graphs of the audio alone. */
export function audioGraphs(plan: EncodePlan): string[] {
  return plan.audio.flatMap((audio) => audioChain(audio, plan));
}

/** The label of all frames that the images are chosen from. */
export const CANDIDATES = 'frames';

/** The filter graph of the images alone, made from frames at any times, such as key frames only. */
export function imagesGraph(plan: EncodePlan): string {
  const source =
    plan.videoRenditions.findLast((rendition) => rungTraits(rendition).isPosterSize) ??
    plan.videoRenditions[0];
  if (source === undefined) return '';
  const { interval, tiles } = plan.images.storyboard;
  const choose = [
    `fps=1/${interval}:start_time=0:round=near`,
    `tpad=stop_mode=clone:stop=-1,trim=end_frame=${tiles}`,
  ].join(',');
  const chain = topChain({ ...source, frameStep: 1 }, plan, [displayedTimes(plan)]);
  const frames = `[0:${plan.videoIndex}]${chain},${fork([CANDIDATES, 'to-poster', 'to-storyboard'])}`;
  return [frames, ...imageChains(plan, choose)].join(';');
}

/** Filters round times. */
const TIME_TOLERANCE_SECONDS = 0.001;

/** Drops frames that an edit list hides, if ffmpeg does not: those of fragments and of AV1. */
function displayedTimes({ duration }: EncodePlan): string {
  return `trim=start=${-TIME_TOLERANCE_SECONDS}:end=${(duration - TIME_TOLERANCE_SECONDS).toFixed(3)}`;
}

/** Frames of the top rendition: the number of the first one, and how many. */
type FrameRange = { first: number; frames: number };

/** The renditions that the images are taken from. */
type ImageSources = { poster?: VideoRenditionPlan | undefined; storyboard?: VideoRenditionPlan | undefined };

/**
 * One chain per encoded rendition, from the top: each feeds its encoder and the scaler of the next lower rendition, and two of them
 * feed the images. If no rendition is encoded, the source is decoded for the images alone.
 */
function videoChains(plan: EncodePlan, range: FrameRange, from: ImageSources): string[] {
  const fromTop = encodedRenditions(plan).toReversed();
  if (fromTop.length === 0) {
    const videoRenditions = plan.videoRenditions.slice(-1);
    return videoRenditions.map(
      (rendition) =>
        `[0:${plan.videoIndex}]${topChain(rendition, plan, framesIn(range, plan))},${fork(['to-poster', 'to-storyboard'])}`,
    );
  }
  return fromTop.map((rendition, at) => {
    const steps =
      at === 0
        ? `[0:${plan.videoIndex}]${topChain(rendition, plan, framesIn(range, plan))}`
        : `[to-${rendition.name}]${[...frameStep(rendition, fromTop[at - 1]), resized(rendition)].join(',')},setsar=1`;
    const next = fromTop[at + 1];
    const copies = [
      rendition.name,
      ...(next ? [`to-${next.name}`] : []),
      ...(rendition === from.poster ? ['to-poster'] : []),
      ...(rendition === from.storyboard ? ['to-storyboard'] : []),
    ];
    return `${steps},${fork(copies)}`;
  });
}

function fork(labels: readonly string[]): string {
  const outputs = labels.map((label) => `[${label}]`).join('');
  return labels.length > 1 ? `split=${labels.length}${outputs}` : `null${outputs}`;
}

/** For the poster the highest one of its size, if there is one; for the storyboard the lowest one. */
function imageSources(plan: EncodePlan): ImageSources {
  const videoRenditions = encodedRenditions(plan);
  return {
    poster: videoRenditions.findLast((rendition) => rungTraits(rendition).isPosterSize) ?? videoRenditions[0],
    storyboard: videoRenditions[0],
  };
}

/** The first frame at or after each interval. */
function atIntervals({ images: { storyboard } }: EncodePlan): string {
  return `select=gte(t\\,selected_n*${storyboard.interval})`;
}

/**
 * ffmpeg reports no progress before each of its outputs has a frame. So each image gets a first version at once, which later
 * versions overwrite. The poster is the first frame, then the first frame after a tenth of the video, then the first later frame
 * that is not nearly black. The storyboard is its first tile, then all tiles.
 *
 * @param choose the filters that choose the frames of the storyboard
 */
function imageChains({ images: { posterFrom, storyboard } }: EncodePlan, choose: string): string[] {
  const { tile, columns, rows, tiles } = storyboard;
  const from = posterFrom.toFixed(3);
  const measured = 'lavfi.signalstats.YAVG';
  const layout = `tile=${columns}x${rows}`;
  return [
    '[to-poster]split=2[opening][later]',
    '[opening]trim=end_frame=1[first]',
    `[later]trim=start=${from},split=2[tenth][candidates]`,
    '[tenth]trim=end_frame=1[second]',
    [
      `[candidates]select=gte(t-${from}\\,selected_n*${CANDIDATE_SECONDS}),signalstats`,
      `metadata=mode=select:key=${measured}:value=${NEARLY_BLACK}:function=greater`,
      'trim=end_frame=1[bright]',
    ].join(','),
    '[first][second][bright]concat=n=3,setpts=N/TB[poster]',
    [`[to-storyboard]${choose},scale=${tile.width}:${tile.height},setsar=1`, 'split=2[tile][tiles]'].join(
      ',',
    ),
    `[tile]trim=end_frame=1,${layout}:nb_frames=1[begun]`,
    `[tiles]${layout}:nb_frames=${tiles}[whole]`,
    '[begun][whole]concat=n=2,setpts=N/TB[storyboard]',
  ];
}

/**
 * The sum of several channels may exceed full scale. Downmix weights that prevent this make all audio a third as loud. The limiter
 * lowers only the peaks and leaves the encoder some headroom.
 */
const LIMITER = 'alimiter=limit=0.9:level=disabled:latency=1';

const LAYOUTS: Record<AudioPlan['channels'], string> = { 1: 'mono', 2: 'stereo', 6: '5.1' };

/** Empty with a stream copy. */
function audioChain(audio: AudioPlan, { lead }: EncodePlan): string[] {
  if ('copiedFrames' in audio.method) return [];
  // Fills gaps, pads a late start and an early end with silence, and cuts a late end.
  const steps = [
    ...(lead === 0 ? [] : [`asetpts=PTS-(${lead})/TB`]),
    `aresample=${AUDIO_SAMPLE_RATE}:async=1:first_pts=0`,
    `aformat=channel_layouts=${LAYOUTS[audio.channels]}`,
    ...(audio.silentFrom === undefined ? [] : [`atrim=end=${audio.silentFrom.toFixed(6)}`]),
    ...(audio.downmix ? [LIMITER] : []),
    'apad',
    `atrim=end_sample=${audio.method.samples}`,
  ];
  return [`[0:${audio.index}]${steps.join(',')}[${audio.name}]`];
}

/**
 * From the decoder to a rendition: one size, progressive, upright, one colour space, 8-bit 4:2:0.
 *
 * @param frames the filters that determine the times and the number of frames
 */
function topChain(top: VideoRenditionPlan, plan: EncodePlan, frames: readonly string[]): string {
  const { matrix, primaries, transfer } = plan.colour;
  return [
    `scale=${plan.coded.width}:${plan.coded.height}:interl=-1`,
    ...(plan.deinterlace ? [`bwdif=mode=${plan.deinterlace}:deint=interlaced`] : []),
    // A field-coded track may end with a single field. bwdif emits its second frame only if another frame follows.
    ...(plan.deinterlace === 'send_field' ? ['tpad=stop_mode=clone:stop=1'] : []),
    ...plan.turn,
    ...(plan.lead === 0 ? [] : [`setpts=PTS-(${plan.lead})/TB`]),
    ...frames,
    ...frameStep(top),
    ...(plan.dynamicRange === 'sdr' ? standardRange(top, plan) : toneMapped(top, plan)),
    'setsar=1',
    `setparams=range=tv:colorspace=${matrix}:color_primaries=${primaries}:color_trc=${transfer}`,
  ].join(',');
}

/** `fps` starts at least this long before the range, because it needs the frame that it repeats. */
const LEAD_IN_SECONDS = 1;

/**
 * Exactly the frames of a range, at a constant rate. `fps` rounds times relative to its start. It starts at a whole second that has
 * a frame, because such a time is exact in every time base. So each range has the same frames as one run from zero.
 */
function framesIn({ first, frames }: FrameRange, { frameRate }: EncodePlan): string[] {
  const { numerator, denominator } = frameRate;
  const period = denominator / greatestCommonDivisor(numerator, denominator);
  const framesPerPeriod = (numerator * period) / denominator;
  const latest = Math.floor(first / framesPerPeriod - LEAD_IN_SECONDS / period);
  const start = period * Math.max(0, latest);
  const skipped = first - (start / period) * framesPerPeriod;
  return [
    `fps=${toFraction(frameRate)}:start_time=${start}`,
    'tpad=stop_mode=clone:stop=-1',
    `trim=${skipped === 0 ? '' : `start_frame=${skipped}:`}end_frame=${skipped + frames}`,
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
function resized({ width, height }: Size): string {
  return `zscale=${width}:${height}:filter=bicubic:range=tv,format=yuv420p`;
}

function standardRange(top: VideoRenditionPlan, plan: EncodePlan): string[] {
  const { pixelsCompatible, coded, assumedMatrix } = plan;
  const { width, height } = top;
  if (pixelsCompatible) {
    // The explicit format also keeps the renditions from taking the images' JPEG format.
    return [coded.width === width && coded.height === height ? 'format=yuv420p' : resized(top)];
  }
  if (hasOtherPrimaries(plan.tagged)) return fromOtherPrimaries(top, plan);
  const from = assumedMatrix === null ? '' : `:in_color_matrix=${assumedMatrix}`;
  return [`scale=${width}:${height}${from}:out_color_matrix=bt709:out_range=tv`, 'format=yuv420p'];
}

/** Scales first, because the conversion in linear light is slow. Standard-range transfer functions count as BT.709's. */
function fromOtherPrimaries(
  { width, height }: VideoRenditionPlan,
  { tagged, assumedMatrix }: EncodePlan,
): string[] {
  const matrix = yuvMatrix(tagged) ?? (assumedMatrix === 'bt601' ? 'smpte170m' : 'bt709');
  const asYuv = tagged.colorMatrix === 'gbr' ? [`out_color_matrix=${matrix},format=yuv444p10le`] : [];
  return [
    [`scale=${width}:${height}:out_range=tv`, ...asYuv].join(':'),
    `zscale=primariesin=${tagged.colorPrimaries}:transferin=bt709:matrixin=${matrix}:rangein=tv` +
      ':primaries=bt709:transfer=bt709:matrix=bt709:range=tv',
    'format=yuv420p',
  ];
}

/** Scales first, because tone mapping works on linear light in floats and is slow. */
function toneMapped({ width, height }: VideoRenditionPlan, { dynamicRange, tagged }: EncodePlan): string[] {
  const transfer = dynamicRange === 'pq' ? 'smpte2084' : 'arib-std-b67';
  const primaries = hasOtherPrimaries(tagged) ? tagged.colorPrimaries : 'bt2020';
  const matrix = yuvMatrix(tagged) ?? 'bt2020nc';
  return [
    `scale=${width}:${height}`,
    `zscale=transferin=${transfer}:primariesin=${primaries}:matrixin=${matrix}:transfer=linear:npl=100`,
    'format=gbrpf32le',
    'zscale=primaries=bt709',
    'tonemap=tonemap=hable:desat=0',
    'zscale=transfer=bt709:matrix=bt709:range=tv',
    'format=yuv420p',
  ];
}
