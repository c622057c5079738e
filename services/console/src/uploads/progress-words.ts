import { formatBytes, formatTimeLeft } from '../ui/format.ts';
import { type Item, paceOf, percentOf, type Reason } from './upload-items.ts';

/** The progress of a file in a line. */
export function progressWords(item: Item): string {
  const { state, size, sent, reason, hasFailed } = item;
  switch (state) {
    case 'waiting':
      return `${formatBytes(size)} · waiting`;
    case 'sending':
      return [`${formatBytes(sent)} of ${formatBytes(size)}`, ...paceWords([item])].join(' · ');
    case 'paused':
      return `${formatBytes(sent)} of ${formatBytes(size)} · paused`;
    case 'sent':
      return `${formatBytes(size)} · uploaded${hasFailed ? '; the video failed' : ''}`;
    case 'failed':
      return `${formatBytes(size)} · failed`;
    case 'unfinished':
      return `${percentOf(item)} % of ${formatBytes(size)} · ${reason ? REASONS[reason] : 'choose the file again to continue'}`;
    case 'ended':
      return reason ? REASONS[reason] : '';
  }
}

/** The status of a video whose file is in the queue; undefined if nothing sends the file, so that the video waits for it. */
export function uploadWords(item: Item): string | undefined {
  switch (item.state) {
    case 'sending':
      return `Uploading ${percentOf(item)} %`;
    case 'paused':
      return `Upload paused at ${percentOf(item)} %`;
    case 'waiting':
      // A file that was not begun before has no video yet.
      return item.sent > 0 ? `Upload waits at ${percentOf(item)} %` : undefined;
    case 'sent':
      return 'Uploaded';
    default:
      return undefined;
  }
}

/** Speed and time left of the files that are being sent, or that there is no connection; empty until the speed is known. */
export function paceWords(items: readonly Item[]): string[] {
  if (!items.some(({ state, speed }) => state === 'sending' && speed !== undefined)) return [];
  const { speed, secondsLeft } = paceOf(items);
  if (secondsLeft === undefined) return ['no connection'];
  return [`${formatBytes(speed)}/s`, `${formatTimeLeft(secondsLeft)} left`];
}

const REASONS: Record<Reason, string> = {
  expired: 'expired. Upload the file again as a new video.',
  deleted: 'the video was deleted',
  'other-file': 'this is another file. Choose the same one, unchanged.',
  'other-tab': 'another tab sends this file',
};
