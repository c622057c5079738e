import type { Schemas, Video } from '@framelane/client';
import { formatClock, formatDay, formatTime, formatTimeLeft } from '../ui/format.ts';
import { importPercent } from './video-words.ts';

type Entry = Schemas['TimelineEntry'];

/** The entries of a timeline, and the Unix time in milliseconds at which they were loaded. */
export type Timeline = { entries: readonly Entry[]; loadedAt: number };

/** An entry of a timeline in words. The timeline was loaded at the Unix time `loadedAt`, in milliseconds. */
export function timelineWords({ type, at, attempt }: Entry, video: Video, loadedAt: number): string {
  switch (type) {
    case 'created':
      if (video.clipOf !== null) return 'Clip requested';
      return video.import === null ? 'Upload ticket created' : 'Import created';
    case 'uploaded':
      return video.import === null ? 'Upload finished' : 'Import finished';
    case 'attempt':
      return attempt === null ? 'Attempt' : `Attempt ${attempt.number} ${outcomeWords(at, attempt)}`;
    case 'retried':
      return 'Retried';
    case 'waiting':
      return Date.parse(at) > loadedAt ? 'Next attempt planned' : 'Waiting for an engine';
    case 'ready':
      return 'Ready to play';
    case 'failed':
      return `Failed${video.error === null ? '' : `: ${video.error.message}`}`;
    case 'source_deleted':
      return 'Uploaded file deleted';
  }
}

/** The time of an entry, with the day unless the entry before it is of the same one. To the second, because entries are close together. */
export function entryTime(at: string, before: string | undefined): string {
  const isSameDay = before !== undefined && formatDay(before) === formatDay(at);
  return isSameDay ? formatClock(at) : formatTime(at);
}

function outcomeWords(start: string, { outcome, endedAt }: Schemas['TimelineAttempt']): string {
  const seconds = endedAt === null ? 0 : Math.round((Date.parse(endedAt) - Date.parse(start)) / 1000);
  switch (outcome) {
    case 'running':
      return 'is running';
    case 'completed':
      return `completed after ${seconds} s`;
    case 'failed':
      return `failed after ${seconds} s`;
    case 'engine_lost':
      return 'ended: the engine no longer responded';
    case 'handed_back':
      return 'was handed back: the engine shut down';
  }
}

/** The stage of a video that is not ready. */
export type Stage = {
  /** What happens now. */
  now: string;
  /** What comes next. */
  next: string;
  /** Of the current step; null if it is not known. */
  percent: number | null;
};

/** Sound alone has no variants. */
function inVariants(variants: readonly string[]): string {
  return variants.length === 0 ? '' : `, in ${variants.join(', ')}`;
}

/** The stage of a video that is being uploaded, imported or processed. `timeline` is undefined until it is loaded. */
export function stageOf(video: Video, timeline: Timeline | undefined): Stage {
  if (video.status === 'uploading')
    return video.import === null ? uploadStage(video) : importStage(video.import);
  const latest = timeline?.entries.at(-1);
  const next = video.preview
    ? `It can be played already${inVariants(video.preview.variants)}. A part that is not transcoded yet takes a moment.`
    : 'The player appears when the video can be played.';
  if (timeline !== undefined && latest?.type === 'waiting') {
    const isPlanned = Date.parse(latest.at) > timeline.loadedAt;
    const words = isPlanned
      ? `The next attempt is planned for ${formatClock(latest.at)}.`
      : `The ${video.clipOf === null ? 'file' : 'clip'} waits for an engine.`;
    return { now: words, next, percent: null };
  }
  const again = (latest?.attempt?.number ?? 1) > 1 ? ` This is attempt ${latest?.attempt?.number}.` : '';
  const left = timeLeft(video.progress, latest, timeline?.loadedAt);
  return {
    now: `${video.clipOf === null ? 'The video is being transcoded' : 'The clip is being made'}: ${video.progress} %${left}.${again}`,
    next,
    percent: video.progress,
  };
}

/** Percent from which the time left is estimated: before, most of the time went into planning. */
const MIN_PERCENT = 5;

/** The time left if the rest takes as long as what is done; empty if it cannot be estimated. */
function timeLeft(percent: number, latest: Entry | undefined, now: number | undefined): string {
  // The progress never falls, so that of a later attempt includes the work of earlier ones.
  if (latest?.attempt?.number !== 1 || now === undefined || percent < MIN_PERCENT) return '';
  const seconds = (now - Date.parse(latest.at)) / 1000;
  return seconds <= 0 ? '' : `, about ${formatTimeLeft((seconds * (100 - percent)) / percent)} left`;
}

function uploadStage({ expiresAt }: Video): Stage {
  const limit = expiresAt === null ? '' : ` The upload must start before ${formatTime(expiresAt)}.`;
  return {
    now: `Framelane waits for the file.${limit}`,
    next: 'When the file is complete, an engine transcodes it.',
    percent: null,
  };
}

function importStage({ bytes, totalBytes, tries, nextTryAt }: Schemas['VideoImport']): Stage {
  const percent = importPercent({ bytes, totalBytes });
  const shown = percent === null ? '' : `: ${percent} %`;
  const retry =
    nextTryAt === null ? '' : ` Try ${tries} failed; the next one begins at ${formatTime(nextTryAt)}.`;
  return {
    now: `Framelane fetches the file${shown}.${retry}`,
    next: 'When the file is complete, an engine transcodes it.',
    percent,
  };
}
