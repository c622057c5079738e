import type { Video } from '@framelane/client';
import AudioLines from 'lucide-react/icons/audio-lines';
import { useEffect, useState } from 'react';
import type { Icon } from '../ui/icon.ts';
import './poster.css';
import { PosterPreview } from './poster-preview.tsx';
import { STATUS_ICONS } from './status-icons.ts';
import { statusIcon } from './video-words.ts';

/** Milliseconds for which the pointer rests before the preview is loaded, so that a pointer on its way loads none. */
const REST_MS = 200;

/**
 * The poster of a video, with a preview while a pointer rests on it. Without a poster: an icon of the status, or a grey area if the video is ready.
 * The cookie of the session gives access to the pictures of a signed video without a token.
 */
export function Poster({ video }: { video: Video }) {
  const { thumbnail, storyboard, updatedAt } = video;
  // A poster keeps its URL, and browsers keep the earlier one for a minute.
  const url = thumbnail && `${thumbnail}?at=${Date.parse(updatedAt)}`;
  const [failed, setFailed] = useState<string>();
  const [isOver, setIsOver] = useState(false);
  const isResting = useAfter(isOver, REST_MS);
  if (url === null || url === failed) {
    const Icon = iconOf(video);
    return <div className="poster">{Icon && <Icon />}</div>;
  }
  return (
    <div
      className="poster-frame"
      onPointerEnter={({ pointerType }) => setIsOver(pointerType === 'mouse')}
      onPointerLeave={() => setIsOver(false)}
    >
      <img
        className="poster"
        src={url}
        alt=""
        width={64}
        height={36}
        loading="lazy"
        decoding="async"
        onError={() => setFailed(url)}
      />
      {isResting && storyboard !== null && <PosterPreview storyboard={storyboard} />}
    </div>
  );
}

function iconOf(video: Video): Icon | undefined {
  if (video.audioOnly === true) return AudioLines;
  return video.status === 'ready' ? undefined : STATUS_ICONS[statusIcon(video)];
}

/** Whether something has been the case for some time. */
function useAfter(isCase: boolean, ms: number): boolean {
  const [isAfter, setIsAfter] = useState(false);
  useEffect(() => {
    if (!isCase) return;
    const timer = setTimeout(() => setIsAfter(true), ms);
    return () => {
      clearTimeout(timer);
      setIsAfter(false);
    };
  }, [isCase, ms]);
  return isAfter;
}
