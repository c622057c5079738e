import { previewUrl, thumbnailUrl, type Video } from '@framelane/client';
import { Copy } from '../ui/copy.tsx';
import { PlaybackLink } from './playback-link.tsx';
import { isPlayable } from './queries.ts';

/** Whether there is a frame at the times of the examples. */
function hasPictures({ status, audioOnly, duration }: Video): boolean {
  return status === 'ready' && audioOnly === false && (duration ?? 0) > 3;
}

/** The URLs of a video. */
export function ShareSection({ video }: { video: Video }) {
  const { embed, thumbnail, playbackPolicy } = video;
  const hls = video.hls ?? video.preview?.hls;
  const isSigned = playbackPolicy === 'signed';
  return (
    <div className="share-section">
      {isSigned && isPlayable(video) && <PlaybackLink video={video} />}
      {isSigned && !isPlayable(video) && (
        <p className="hint">
          This video plays only with a link that expires. Create one when it can be played.
        </p>
      )}
      {!isSigned && (
        <>
          <Copy label="Player page" value={embed} />
          {hls !== undefined && <Copy label="Playlist (HLS)" value={hls} />}
          {thumbnail !== null && <Copy label="Poster" value={thumbnail} />}
          {hls !== undefined && hasPictures(video) && (
            <>
              <Copy
                label="A frame, such as that at 3 s"
                value={thumbnailUrl({ hls }, { time: 3, width: 640 })}
              />
              <Copy label="Moving preview" value={previewUrl({ hls }, { start: 3 })} />
            </>
          )}
        </>
      )}
    </div>
  );
}
