import { useState } from 'react';
import { DEFAULT_PERIOD } from './period.ts';
import { VideoFigures } from './video-figures.tsx';

/** What is watched of one video, for a part of its page: without a heading, and with a period that is not in the address. */
export function VideoAnalytics({ videoId }: { videoId: string }) {
  const [period, setPeriod] = useState(DEFAULT_PERIOD);
  return <VideoFigures videoId={videoId} period={period} onPeriod={setPeriod} />;
}
