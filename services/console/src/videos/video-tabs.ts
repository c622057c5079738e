import type { Video } from '@framelane/client';

export type VideoTab =
  | 'overview'
  | 'captions'
  | 'outputs'
  | 'share'
  | 'embed'
  | 'code'
  | 'analytics'
  | 'activity';

/** Tabs of a video that can never be played. */
const LOST: readonly [VideoTab, ...VideoTab[]] = ['activity', 'outputs'];

/** The tabs of a video that can be played, or will be. */
const ALL: readonly [VideoTab, ...VideoTab[]] = [
  'overview',
  'captions',
  'outputs',
  'share',
  'embed',
  'code',
  'analytics',
  'activity',
];

export const TAB_NAMES: Record<VideoTab, string> = {
  overview: 'Overview',
  captions: 'Captions and chapters',
  outputs: 'Outputs',
  share: 'Share',
  embed: 'Embed',
  code: 'Code',
  analytics: 'Analytics',
  activity: 'Activity',
};

/** The tabs of a video, the first one of which is shown first. */
export function tabsOf({
  status,
  retryable,
}: Pick<Video, 'status' | 'retryable'>): readonly [VideoTab, ...VideoTab[]] {
  return status === 'failed' && !retryable ? LOST : ALL;
}
