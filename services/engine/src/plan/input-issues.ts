import { type InputIssue, MAX_CHAPTERS } from '@framelane/contracts/manifest';
import { describeTrack } from '../source/media-source.ts';
import type { ProbedSound, ProbedSource, ProbedVideo } from '../source/probe.ts';
import { SURROUND_CHANNELS } from './audio-plan.ts';

/**
 * A file counts as truncated if its declared duration exceeds that of its content by more than this fraction of the content, or if more than
 * this fraction of the file is left when reading ends.
 */
const TRUNCATED_FRACTION = 0.05;

/** Why a file cannot be read to its end. ffmpeg reads the first link of chained Ogg only. */
const DAMAGED = 'it is damaged';
const REASONS: Readonly<Record<string, string>> = {
  ogg: `${DAMAGED}, or another video follows in it (chained Ogg)`,
};

/** The pixel formats of ffmpeg with more than 8 bits per sample. A test compares it with ffmpeg's own list. */
const HIGH_BIT_DEPTH =
  /(p[024]?|gray|ya|xyz|bayer_\w{4}|nv|y2|x2rgb|x2bgr)(9|1[0246]|20|32)(msb)?(le|be)|(rgb|bgr)a?(48|64|96|128)|ayuv64|^x?v(30|36|48)|f(16|32)(le|be)/;

/** Whether frames have more than 8 bits per sample. */
export function hasHighBitDepth(pixelFormat: string): boolean {
  return HIGH_BIT_DEPTH.test(pixelFormat);
}

/** What the owner of a video can ask for that prevents a stream copy. */
const PREVENTIONS = { watermark: 'has a watermark', trim: 'is trimmed' } as const;

type OutputFacts = {
  /** Of the output, before deinterlacing may double it and lower renditions may halve it. */
  framesPerSecond: number;
  /** Seconds cut from the start (see EncodePlan). */
  lead: number;
  /** Whether tracks with 5.1 get a rendition in 5.1. */
  surround: boolean;
  /** The only reason why no rendition is a stream copy. */
  copyPreventedBy: keyof typeof PREVENTIONS | null;
  /** Seconds of the whole source, if the trim would end later. */
  endsAt: number | null;
};

/** What the transcode changes about a source, for the owner of the video. */
export function inputIssues(
  source: ProbedVideo,
  { framesPerSecond, lead, surround, copyPreventedBy, endsAt }: OutputFacts,
): InputIssue[] {
  const { video, timeline } = source;
  const { averageRate } = timeline;
  const [end, declaredEnd] =
    video.declaredDuration === null
      ? [source.end, source.declaredDuration]
      : [timeline.duration, video.declaredDuration];
  const issues: [boolean, InputIssue][] = [
    [video.interlaced, { code: 'interlaced', message: 'Interlaced video was deinterlaced.' }],
    [
      video.dynamicRange !== 'sdr',
      { code: 'hdr', message: 'High dynamic range was mapped to standard dynamic range.' },
    ],
    [
      hasHighBitDepth(video.pixelFormat),
      { code: 'high_bit_depth', message: 'The video was reduced to 8 bits per sample.' },
    ],
    [
      /4(22|44|40)|rgb|gbr|bgr/.test(video.pixelFormat),
      { code: 'chroma_subsampling', message: 'Chroma was subsampled to 4:2:0.' },
    ],
    [
      Math.abs(averageRate - framesPerSecond) > framesPerSecond * 0.01 &&
        Math.abs(timeline.frames - (timeline.duration - lead) * framesPerSecond) > 1.5,
      {
        code: 'frame_rate_changed',
        message: `The frame rate was changed from ${averageRate.toFixed(2)} to ${framesPerSecond.toFixed(2)}.`,
      },
    ],
    [
      copyPreventedBy !== null,
      {
        code: 'copy_prevented',
        message: `The highest quality was encoded instead of copied, because the video ${PREVENTIONS[copyPreventedBy ?? 'trim']}.`,
      },
    ],
  ];
  return [
    ...issues.filter(([applies]) => applies).map(([, issue]) => issue),
    ...truncation(source, end, declaredEnd),
    ...trackIssues(source, surround),
    ...trimIssues(endsAt),
  ];
}

/** The same for sound alone. */
export function soundIssues(
  source: ProbedSound,
  { surround, endsAt }: Pick<OutputFacts, 'surround' | 'endsAt'>,
): InputIssue[] {
  const declared = source.audio.flatMap(({ declaredDuration }) => declaredDuration ?? []);
  const declaredEnd = source.declaredDuration ?? (declared.length === 0 ? null : Math.max(...declared));
  return [
    ...truncation(source, source.timeline.duration, declaredEnd),
    ...trackIssues(source, surround),
    ...trimIssues(endsAt),
  ];
}

function trimIssues(endsAt: number | null): InputIssue[] {
  if (endsAt === null) return [];
  const message = `The trim ends with the file, which lasts ${endsAt.toFixed(3)} seconds.`;
  return [{ code: 'trim_shortened', message }];
}

/** Both times are in seconds. */
function truncation(
  { unread, container }: ProbedSource,
  end: number,
  declaredEnd: number | null,
): InputIssue[] {
  if (declaredEnd !== null && declaredEnd > end * (1 + TRUNCATED_FRACTION)) {
    const message = `The file ends after ${end.toFixed(1)} of ${declaredEnd.toFixed(1)} seconds.`;
    return [{ code: 'truncated', message }];
  }
  if (unread <= TRUNCATED_FRACTION) return [];
  const message = `The last ${Math.round(unread * 100)} % of the file cannot be read: ${REASONS[container] ?? DAMAGED}.`;
  return [{ code: 'truncated', message }];
}

function trackIssues(source: ProbedSource, surround: boolean): InputIssue[] {
  const downmixed = source.audio
    .filter(({ channels }) => channels > 2 && !(surround && channels === SURROUND_CHANNELS))
    .map(({ index, channels }): InputIssue => {
      const ofTrack = source.audio.length > 1 ? ` of track ${index + 1}` : '';
      const layouts = surround && channels > SURROUND_CHANNELS ? '5.1 and to stereo' : 'stereo';
      const message = `${channels} audio channels${ofTrack} were downmixed to ${layouts}.`;
      return { code: 'audio_downmixed', message };
    });
  const leftOut = source.leftOut.map(
    (track): InputIssue => ({
      code: 'track_left_out',
      message: `Track ${describeTrack(track)} was left out${track.flaw ? `: ${track.flaw}` : ''}.`,
    }),
  );
  const tooManyChapters: InputIssue = {
    code: 'chapters_left_out',
    message: `The chapters of the file were left out: it has more than ${MAX_CHAPTERS}, or too much text in their titles.`,
  };
  return [...downmixed, ...leftOut, ...(source.chapters === 'too_many' ? [tooManyChapters] : [])];
}
