import type { ImagesPlan } from '@framelane/contracts/outputs/images';
import type { EncodePlan } from '@framelane/contracts/transcode-plan';
import type { Tap } from '../../ffmpeg/filter-graph.ts';
import { earlier, fork, framesIn, hasSlowPictures, topChain } from '../../ffmpeg/filter-graph.ts';
import { TO_JPEG } from '../../ffmpeg/image-colours.ts';
import { watermarked } from '../../ffmpeg/watermark-filter.ts';
import { posterRendition } from '../../plan/ladder.ts';
import { soundPosterChains } from './sound-poster.ts';

/** The images of a video. Each is the label of a filter chain and the name of a file. */
export const IMAGE_NAMES = ['poster', 'storyboard'] as const;

/** The images that a plan has: sound alone has no storyboard. */
export function imageNames({ images }: EncodePlan): readonly (typeof IMAGE_NAMES)[number][] {
  return images.storyboard === null ? ['poster'] : IMAGE_NAMES;
}

/** Seconds between the frames that are tried for the poster. */
const CANDIDATE_SECONDS = 0.5;
/**
 * A frame counts as black if at least this percentage of its pixels is darker than this luma. Black is 16 and white is 235. All candidates are measured,
 * also those after the chosen one. `blackframe` only counts pixels; `signalstats` would take 7 ms for each frame of 720p.
 */
const BLACK_PERCENT = 96;
const NEARLY_BLACK = 24;

type Storyboard = NonNullable<ImagesPlan['storyboard']>;

/** The chains of the images beside the renditions. Those of slow pictures are a graph of their own: see `hasSlowPictures`. */
export function chainsBesideRenditions(plan: EncodePlan): string[] {
  const { storyboard } = plan.images;
  if (storyboard === null) return soundPosterChains(plan);
  if (hasSlowPictures(plan)) return [imagesGraph(plan, [])];
  return imageChains(plan, storyboard, atIntervals(storyboard));
}

/** The label of all frames that the images are chosen from. */
export const CANDIDATES = 'frames';

/**
 * The filter graph of the images alone, made from frames at any times, such as key frames only.
 *
 * @param others labels of outputs with all frames
 */
export function imagesGraph(plan: EncodePlan, others: readonly string[]): string {
  const source = posterRendition(plan.videoRenditions);
  const { storyboard } = plan.images;
  if (source === undefined || storyboard === null) return '';
  const chain = topChain({ ...source, frameStep: 1 }, plan, displayedTimes(plan));
  const shown = watermarked(`[0:${plan.videoIndex}]${chain}`, source, plan);
  const frames = `${shown},${fork([...others, 'to-poster', 'to-storyboard'])}`;
  return [frames, ...imageChains(plan, storyboard, atEachTile(storyboard))].join(';');
}

/**
 * The filter graph of the images of a clip. The first input has key frames for the storyboard, the second the frames around the poster. Timestamps
 * begin at `start`, in seconds.
 */
export function clipImagesGraph(plan: EncodePlan, start: number): string {
  const { storyboard } = plan.images;
  if (storyboard === null) return '';
  const counted = `setpts=PTS-${start.toFixed(6)}/TB`;
  return [
    // The only key frame of a very short clip has no duration, and no tile without a frame after it.
    `[0:v]tpad=stop_mode=clone:stop=1,${counted}[to-storyboard]`,
    `[1:v]${counted}[to-poster]`,
    ...imageChains(plan, storyboard, atEachTile(storyboard)),
  ].join(';');
}

/** The frame nearest to the time of each tile. `eof_action`: also if the last frame ends before half an interval, such as the only one. */
function atEachTile({ interval, tiles }: Storyboard): string {
  return [
    `fps=1/${interval}:start_time=0:round=near:eof_action=pass`,
    `tpad=stop_mode=clone:stop=-1,trim=end_frame=${tiles}`,
  ].join(',');
}

/** Filters round times. */
const TIME_TOLERANCE_SECONDS = 0.001;

/**
 * Drops frames that a trim cuts off, and those that an edit list hides, if ffmpeg does not: those of fragments and of AV1. The first slide of a part may
 * have begun long before it.
 */
function displayedTimes(plan: EncodePlan): string[] {
  const { lead, firstFrame, frames, duration } = plan;
  if (firstFrame > 0 && hasSlowPictures(plan)) return framesIn({ first: 0, frames }, plan);
  return [
    ...earlier(lead),
    `trim=start=${-TIME_TOLERANCE_SECONDS}:end=${(duration - TIME_TOLERANCE_SECONDS).toFixed(3)}`,
  ];
}

/** The frames that the images are chosen from: for the storyboard those of the lowest rendition. */
export function imageTaps(plan: EncodePlan): Tap[] {
  if (plan.images.storyboard === null || hasSlowPictures(plan)) return [];
  const [lowest] = plan.videoRenditions;
  const ofPoster = posterRendition(plan.videoRenditions);
  if (lowest === undefined || ofPoster === undefined) return [];
  return [
    { label: 'to-poster', rendition: ofPoster },
    { label: 'to-storyboard', rendition: lowest },
  ];
}

/** The first frame at or after each interval. */
function atIntervals({ interval }: Storyboard): string {
  return `select=gte(t\\,selected_n*${interval})`;
}

/**
 * ffmpeg reports no progress before each of its outputs has a frame. So each image gets a first version at once, which later
 * versions overwrite. The poster is the first frame, then the first frame after a tenth of the video, then the first later frame
 * that is not nearly black. The storyboard is its first tile, then all tiles.
 *
 * @param choose the filters that choose the frames of the storyboard
 */
function imageChains(
  { images: { posterFrom } }: EncodePlan,
  storyboard: Storyboard,
  choose: string,
): string[] {
  const { tile, columns, rows, tiles } = storyboard;
  const from = posterFrom.toFixed(3);
  const layout = `tile=${columns}x${rows}`;
  return [
    '[to-poster]split=2[opening][later]',
    '[opening]trim=end_frame=1[first]',
    `[later]trim=start=${from},split=2[tenth][candidates]`,
    '[tenth]trim=end_frame=1[second]',
    [
      `[candidates]select=gte(t-${from}\\,selected_n*${CANDIDATE_SECONDS})`,
      `blackframe=amount=0:threshold=${NEARLY_BLACK}`,
      `metadata=mode=select:key=lavfi.blackframe.pblack:value=${BLACK_PERCENT}:function=less`,
      'trim=end_frame=1[bright]',
    ].join(','),
    `[first][second][bright]concat=n=3,setpts=N/TB,${TO_JPEG}[poster]`,
    [`[to-storyboard]${choose},scale=${tile.width}:${tile.height},setsar=1`, 'split=2[tile][tiles]'].join(
      ',',
    ),
    `[tile]trim=end_frame=1,${layout}:nb_frames=1[begun]`,
    `[tiles]${layout}:nb_frames=${tiles}[whole]`,
    `[begun][whole]concat=n=2,setpts=N/TB,${TO_JPEG}[storyboard]`,
  ];
}
